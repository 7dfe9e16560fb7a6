/* SPDX-License-Identifier: MIT */
/* A folder of entries on disk. Every call walks from the base folder to the
 * entry by descriptors and keeps none: there is nothing to lock, and nothing
 * that a fork or the removal of the folder under a running process makes
 * stale, for microseconds beside the milliseconds that a hit saves.
 *
 *   BASE/v1/CACHEDIR.TAG     tells backup programs to skip it
 *   BASE/v1/e/ab/ab....jgc   entries, by the name of their key
 *   BASE/v1/l/               locks between processes; never removed
 *   BASE/v1/q/               entries found bad; a later one replaces the last
 *   BASE/v1/t/               files being written
 *   BASE/v1/tuning-ARCH-SMS  measured choices: tuning.h */
#ifndef JG_STORE_H
#define JG_STORE_H

#include <stdbool.h>

#include "entry.h"
#include "key.h"

#define JG_STORE_VERSION "v1" /* of this layout and of the entries in it */

struct jg_store {           /* all zero: none */
    struct jg_buf base;     /* absolute path; a C string unless empty */
    bool make_parent;       /* of base, with it */
    unsigned base_flags;    /* JG_FILE_GROUP, JG_FILE_FOLLOW */
    unsigned flags;         /* JG_FILE_GROUP, for all below */
};

void jg_store_free(struct jg_store *store); /* back to all zero */

/* Opens BASE/v1, or, of `name`, a folder in it. `create` is JG_FILE_CREATE or
 * 0, here and below. Returns 0 or an error of file.h. */
int jg_store_open(const struct jg_store *store, const char *name,
                  unsigned create, int *folder);

enum jg_store_result {
    JG_STORE_HIT,
    JG_STORE_ABSENT,
    JG_STORE_UNREADABLE, /* the way to it or the file */
    JG_STORE_BAD         /* the file is no entry of that key to be trusted */
};

/* Reads the entry of a key; `stamp` (JG_FILE_STAMP or 0) marks it as used.
 * On a hit the entry's spans point into *file, which the caller frees with
 * free(); else *why says why, valid until this thread's next call. */
enum jg_store_result jg_store_read(const struct jg_store *store,
                                   const struct jg_key *key, unsigned stamp,
                                   struct jg_entry *entry, void **file,
                                   const char **why);

/* Makes what is missing and publishes the bytes as the entry of a key.
 * Returns 0 or an error of file.h. */
int jg_store_write(const struct jg_store *store, const struct jg_key *key,
                   const struct jg_buf *bytes);

/* Reads or, atomically, writes BASE/v1/NAME, a small file that is no entry.
 * Return 0 or an error of file.h; *bytes is free()d by the caller. */
int jg_store_load(const struct jg_store *store, const char *name, size_t limit,
                  void **bytes, size_t *size);
int jg_store_save(const struct jg_store *store, const char *name,
                  const struct jg_buf *bytes);

/* Moves an entry to q. It may have been replaced by a good one meanwhile:
 * then that is lost, which costs one more compile. Returns 0 or an error. */
int jg_store_set_aside(const struct jg_store *store, const struct jg_key *key);

#endif
