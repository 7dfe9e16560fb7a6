/* SPDX-License-Identifier: MIT */
/* Folders and files that may be trusted: opened one component at a time from
 * a descriptor of the folder above, checked after opening (so that what was
 * checked is what is used), published by rename. Nothing that exists is ever
 * changed to make it pass.
 *
 * Trusted: owned by this process's effective user or by root, and writable by
 * its owner only. JG_FILE_GROUP trusts the file's group too, if this process
 * is in it: the owner may be anyone, the group may write.
 *
 * All functions return 0 or an error: an errno value or one of those below.
 * Outputs are written on success only. Any number of threads. */
#ifndef JG_FILE_H
#define JG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flags. */
enum {
    JG_FILE_GROUP = 1,
    JG_FILE_CREATE = 2, /* if absent; not its parents */
    JG_FILE_FOLLOW = 4, /* the name may be a symbolic link */
    JG_FILE_STAMP = 8,  /* reading sets the time of change to now, at most once
                           an hour: the least recently used are the oldest */
    JG_FILE_PUBLIC = 16 /* publish for all to read */
};

/* Errors; errno values stay below 4096 on Linux. */
enum {
    JG_FILE_UNTRUSTED = 4096, /* owner or permissions */
    JG_FILE_WRONG_KIND,       /* not a regular file; a symbolic link */
    JG_FILE_WRONG_SIZE        /* over the limit, or changed while read */
};

const char *jg_file_text(int error);

/* Opens a folder, mode 0700 (0750 with JG_FILE_GROUP) if it makes it. The
 * name is one component or, from AT_FDCWD, an absolute path. */
int jg_file_open_folder(int parent, const char *name, unsigned flags,
                        int *folder);

/* Whether a folder could be made in the one at `path`; `own`: which must also
 * belong to this user or root. */
int jg_file_may_create(const char *path, bool own);

/* Opens a trusted regular file to read from. */
int jg_file_open(int folder, const char *name, unsigned flags, int *file,
                 uint64_t *size);

/* Reads `size` bytes from `start` on; WRONG_SIZE if the file ends before. */
int jg_file_read_at(int file, uint64_t start, void *data, size_t size);

/* Reads a whole trusted regular file of at most `limit` bytes. The caller
 * frees *data with free(). */
int jg_file_read(int folder, const char *name, unsigned flags, size_t limit,
                 void **data, size_t *size);

/* Opens a trusted regular file to lock or stamp it, empty if it makes it. */
int jg_file_open_lock(int folder, const char *name, unsigned flags, int *file);

/* Makes or replaces a file, mode 0600 (0640 with JG_FILE_GROUP, 0644 with
 * JG_FILE_PUBLIC, less the umask), in one step: readers and crashes see all of
 * it or none. The bytes go to a new file in `scratch`, a folder of the same
 * file system, and are synced. */
int jg_file_publish(int scratch, int folder, const char *name, unsigned flags,
                    const void *data, size_t size);

#endif
