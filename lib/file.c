/* SPDX-License-Identifier: MIT */
/* Trusted folders and files. */
#define _GNU_SOURCE /* getrandom, group_member */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *jg_file_text(int error)
{
    switch (error) {
    case JG_FILE_UNTRUSTED:
        return "wrong owner, or writable by others";
    case JG_FILE_WRONG_KIND:
        return "not a regular file";
    case JG_FILE_WRONG_SIZE:
        return "wrong size";
    default:
        return strerror(error); /* per thread or static in glibc */
    }
}

static bool in_group(gid_t group)
{
    return group == getegid() || group_member(group);
}

static int check_trust(const struct stat *info, unsigned flags)
{
    bool group = flags & JG_FILE_GROUP && in_group(info->st_gid);
    mode_t others = group ? S_IWOTH : S_IWOTH | S_IWGRP;

    if (info->st_mode & others)
        return JG_FILE_UNTRUSTED;
    if (info->st_uid == geteuid() || info->st_uid == 0 || group)
        return 0;
    return JG_FILE_UNTRUSTED;
}

int jg_file_open_folder(int parent, const char *name, unsigned flags,
                        int *folder)
{
    int follow = flags & JG_FILE_FOLLOW ? 0 : O_NOFOLLOW;
    mode_t mode = flags & JG_FILE_GROUP ? 0750 : 0700;
    struct stat info;
    int fd, error = 0;

    if (flags & JG_FILE_CREATE && mkdirat(parent, name, mode) != 0)
        error = errno;
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
    if (fd < 0) /* why it could not be made says more than that it is absent */
        return error && error != EEXIST ? error : errno;
    error = fstat(fd, &info) != 0 ? errno : check_trust(&info, flags);
    if (error) {
        close(fd);
        return error;
    }
    *folder = fd;
    return 0;
}

int jg_file_may_create(const char *path, bool own)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return errno;
    if (own && info.st_uid != geteuid() && info.st_uid != 0)
        return JG_FILE_UNTRUSTED;
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0 ? errno : 0;
}

/* ---- Read ---- */

int jg_file_read_at(int file, uint64_t start, void *data, size_t size)
{
    unsigned char *to = data;

    while (size) {
        ssize_t got = pread(file, to, size, (off_t)start);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            return JG_FILE_WRONG_SIZE;
        to += got;
        start += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static int check_file(int fd, unsigned flags, struct stat *info)
{
    if (fstat(fd, info) != 0)
        return errno;
    if (!S_ISREG(info->st_mode))
        return JG_FILE_WRONG_KIND;
    return check_trust(info, flags);
}

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
static int open_file(int folder, const char *name, unsigned flags, int create,
                     int *file, struct stat *info)
{
    mode_t mode = flags & JG_FILE_GROUP ? 0640 : 0600;
    int fd = openat(folder, name,
                    O_RDONLY | create | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
                        O_NONBLOCK,
                    mode);
    int error;

    if (fd < 0)
        return errno == ELOOP ? JG_FILE_WRONG_KIND : errno;
    error = check_file(fd, flags, info);
    if (error)
        close(fd);
    else
        *file = fd;
    return error;
}

int jg_file_open(int folder, const char *name, unsigned flags, int *file,
                 uint64_t *size)
{
    struct stat info;
    int error = open_file(folder, name, flags, 0, file, &info);

    if (!error)
        *size = (uint64_t)info.st_size;
    return error;
}

/* Reading is all that flock() asks for, and what a group may do. */
int jg_file_open_lock(int folder, const char *name, unsigned flags, int *file)
{
    struct stat info;

    return open_file(folder, name, flags, O_CREAT, file, &info);
}

/* Says that the file is in use, if that was not said in the last hour; the
 * difference either way, for clocks differ. Nothing depends on it. */
static void stamp(int fd, time_t last)
{
    double age = difftime(time(NULL), last);

    if (age >= 3600 || age <= -3600)
        futimens(fd, NULL);
}

int jg_file_read(int folder, const char *name, unsigned flags, size_t limit,
                 void **data, size_t *size)
{
    struct stat info;
    void *bytes = NULL;
    int fd, error = open_file(folder, name, flags, 0, &fd, &info);

    if (error)
        return error;
    if (info.st_size < 0 || (uintmax_t)info.st_size > limit)
        error = JG_FILE_WRONG_SIZE;
    else if (!(bytes = malloc((size_t)info.st_size + 1)))
        error = ENOMEM;
    else
        error = jg_file_read_at(fd, 0, bytes, (size_t)info.st_size);
    if (!error && flags & JG_FILE_STAMP)
        stamp(fd, info.st_mtime);
    close(fd);
    if (error) {
        free(bytes);
        return error;
    }
    *data = bytes;
    *size = (size_t)info.st_size;
    return 0;
}

/* ---- Publish ---- */

/* A new file under a name that nobody else has; -1 and errno if none. */
static int open_scratch(int scratch, mode_t mode, char name[17])
{
    int fd = -1;

    for (int attempt = 0; fd < 0 && attempt < 4; attempt++) {
        uint64_t random;

        if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
            return -1;
        snprintf(name, 17, "%016jx", (uintmax_t)random);
        fd =
            openat(scratch, name,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

static int write_all(int fd, const unsigned char *data, size_t size)
{
    struct rlimit limit;

    /* Writing past this limit would not only fail but by default kill the
     * process with SIGXFSZ. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur)
        return EFBIG;
    while (size) {
        ssize_t put = write(fd, data, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        if (put == 0)
            return ENOSPC;
        data += put;
        size -= (size_t)put;
    }
    return fsync(fd) != 0 ? errno : 0;
}

int jg_file_publish(int scratch, int folder, const char *name, unsigned flags,
                    const void *data, size_t size)
{
    mode_t mode = flags & JG_FILE_PUBLIC  ? 0644
                  : flags & JG_FILE_GROUP ? 0640
                                          : 0600;
    char temporary[17];
    int fd, error;

    fd = open_scratch(scratch, mode, temporary);
    if (fd < 0)
        return errno;
    error = write_all(fd, data, size);
    /* Network file systems report a full disk here. After EINTR the file is
     * closed and was synced. */
    if (close(fd) != 0 && errno != EINTR && !error)
        error = errno;
    if (!error && renameat(scratch, temporary, folder, name) != 0)
        error = errno;
    if (error)
        unlinkat(scratch, temporary, 0);
    return error;
}
