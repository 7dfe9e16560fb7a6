/* SPDX-License-Identifier: MIT */
/* Messages and memory for the tool. */
#include "common.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void complain(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fputs("jitgemm-warm: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
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
