/* SPDX-License-Identifier: MIT */
/* A kernel's texts as files. */
#define _POSIX_C_SOURCE 200809L /* mkdir */
#include "keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel_text.h"

/* Names have one folder at most: "ptx/tma.cuh", "spec.cuh". */
static int write_text(const char *folder, const char *name, const char *text)
{
    const char *slash = strchr(name, '/');
    char path[1200];
    FILE *file;

    if (slash) {
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)(slash - name),
                 name);
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return errno;
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    if (!file)
        return errno;
    if (fputs(text, file) < 0) {
        int error = errno;

        fclose(file);
        return error;
    }
    return fclose(file) == 0 ? 0 : errno;
}

int jg_keep(const char *folder, const struct jg_spec *spec,
            const struct jg_buf *log)
{
    int error = 0;

    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        return errno;
    for (size_t i = 0; i < jg_kernel_texts_count && !error; i++)
        error = write_text(folder, jg_kernel_texts[i].name,
                           jg_kernel_texts[i].text);
    if (!error)
        error = write_text(folder, "spec.cuh", spec->text);
    if (!error)
        error = write_text(folder, "log",
                           log->size ? (const char *)log->data : "");
    return error;
}
