/* SPDX-License-Identifier: MIT */
/* Messages and memory for the tool. */
#define _POSIX_C_SOURCE 200809L /* getcwd */
#include "common.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void complain(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fputs("jitgemm-warm: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
}

bool flush_output(void)
{
    if (!fflush(stdout) && !ferror(stdout))
        return true;
    complain("cannot write to standard output");
    return false;
}

void *grow(void *items, size_t *capacity, size_t need, size_t element_bytes)
{
    size_t wanted = *capacity ? *capacity : 8;

    if (need <= *capacity)
        return items;
    while (wanted < need && wanted <= SIZE_MAX / 2)
        wanted *= 2;
    if (wanted >= need && wanted <= SIZE_MAX / element_bytes)
        items = realloc(items, wanted * element_bytes);
    else
        items = NULL;
    if (!items) {
        complain("out of memory");
        exit(EXIT_FAILURE);
    }
    *capacity = wanted;
    return items;
}

char *copy_text(const char *text)
{
    size_t capacity = 0, bytes = strlen(text) + 1;

    return memcpy(grow(NULL, &capacity, bytes, 1), text, bytes);
}

char *absolute_path(const char *path)
{
    char here[PATH_MAX], *whole = NULL;
    size_t capacity = 0, bytes;

    if (*path == '/')
        return copy_text(path);
    if (!getcwd(here, sizeof here)) {
        complain("the current folder has no name: %s", strerror(errno));
        exit(EXIT_FAILURE);
    }
    bytes = strlen(here) + 1 + strlen(path) + 1;
    whole = grow(NULL, &capacity, bytes, 1);
    snprintf(whole, bytes, "%s/%s", here, path);
    return whole;
}
