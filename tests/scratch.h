/* SPDX-License-Identifier: MIT */
/* A folder of its own for a test, in the current folder and removed at the
 * end, and files in it. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char scratch[PATH_MAX]; /* absolute path */

static inline void scratch_begin(void)
{
    char name[] = "scratch-XXXXXX";

    umask(022);
    if (!mkdtemp(name) || !realpath(name, scratch)) {
        perror("scratch folder");
        exit(1);
    }
}

static inline int scratch_remove(const char *path, const struct stat *info,
                                 int type, struct FTW *walk)
{
    (void)info;
    (void)walk;
    return type == FTW_DP ? rmdir(path) : unlink(path);
}

static inline void scratch_clear(const char *path)
{
    nftw(path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void scratch_end(void)
{
    scratch_clear(scratch);
}

/* One of eight rotating buffers. */
static inline const char *in_scratch(const char *rest)
{
    static char paths[8][2 * PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", scratch, rest);
    return path;
}

/* Permission bits and kind; 0 if there is nothing. */
static inline mode_t mode_of(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 ? info.st_mode : 0;
}

static inline bool exists(const char *path)
{
    return mode_of(path) != 0;
}

static inline void make_folder(const char *path, mode_t mode)
{
    CHECK(mkdir(path, 0700) == 0 && chmod(path, mode) == 0);
}

static inline void write_file(const char *path, const void *bytes, size_t size,
                              mode_t mode)
{
    FILE *file;

    unlink(path);
    file = fopen(path, "w");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    CHECK(file && fclose(file) == 0 && chmod(path, mode) == 0);
}

/* Memory to free(), of exactly the file's size. */
static inline void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    struct stat info = {.st_size = 0};
    void *bytes = NULL;

    *size = 0;
    if (file && fstat(fileno(file), &info) == 0) {
        bytes = malloc((size_t)info.st_size + !info.st_size);
        *size = bytes ? fread(bytes, 1, (size_t)info.st_size, file) : 0;
    }
    if (file)
        fclose(file);
    return bytes;
}

static int files_counted;

static inline int count_one(const char *path, const struct stat *info,
                            int type, struct FTW *walk)
{
    (void)path;
    (void)info;
    (void)walk;
    files_counted += type != FTW_D;
    return 0;
}

/* Files of any kind but folders, at any depth. */
static inline int count_files(const char *path)
{
    files_counted = 0;
    nftw(path, count_one, 16, FTW_PHYS);
    return files_counted;
}

#endif
