/* SPDX-License-Identifier: MIT */
/* A pack: entries of many keys in one file that does not change. Only its
 * index is kept in memory; an entry is read when asked for, never mapped, so
 * that a file cut short is an error and not a signal.
 *
 *   pack   = magic format flags count { row } digest { entry } ;
 *   magic  = "JGPACK" #00 #00 ;
 *   format = u16 ;          (1)
 *   flags  = u16 ;          (0)
 *   count  = u32 ;          (of rows and entries)
 *   row    = name size sha256 ;  (names ascend, so none is there twice)
 *   name   = byte{32} ;     (of the entry's key: hex digits)
 *   size   = u64 ;          (of the entry)
 *   sha256 = byte{32} ;     (of the entry)
 *   digest = byte{32} ;     (SHA-256 of all before it; since the rows have
 *                            that of each entry, whoever signs this signs all)
 *   entry  = as in entry.h ;     (in the order of the rows, nothing between)
 *
 * Numbers are little endian. Equal entries make equal packs. */
#ifndef JG_PACK_H
#define JG_PACK_H

#include "entry.h"
#include "key.h"
#include "sha256.h"

#define JG_PACK_SUFFIX ".jgp"

/* Immutable; any number of threads. */
struct jg_pack;

/* Opens a trusted (file.h) pack and reads its index. Returns 0, an error of
 * file.h, or EBADMSG for a damaged or foreign file; with an error, *why is it
 * in words, valid until the thread's next call. */
int jg_pack_open(int folder, const char *name, unsigned flags,
                 struct jg_pack **pack, const char **why);
void jg_pack_close(struct jg_pack *pack); /* NULL is allowed */

/* On a hit the entry's spans point into *file, which the caller frees with
 * free(). On a miss neither is written, and *why is NULL if the pack has no
 * such entry, else what is wrong with the one it has. */
bool jg_pack_find(const struct jg_pack *pack, const struct jg_key *key,
                  struct jg_entry *entry, void **file, const char **why);

/* Going through a pack. Names have a NUL at the end. */
size_t jg_pack_count(const struct jg_pack *pack);
const char *jg_pack_name(const struct jg_pack *pack, size_t index);
const unsigned char *jg_pack_digest(const struct jg_pack *pack);

/* The file form of an entry, with the SHA-256 that the index has of it;
 * file->data is the caller's to free(). */
bool jg_pack_read(const struct jg_pack *pack, size_t index,
                  struct jg_span *file, const char **why);

/* ---- Making one ---- */

struct jg_packed {
    char name[JG_KEY_NAME_LENGTH + 1];
    struct jg_span file; /* the entry in its file form */
};

/* Appends the pack of entries whose names ascend. Out of memory, or more than
 * can be read again, shows in out->failed. */
void jg_pack_encode(const struct jg_packed *entries, size_t count,
                    struct jg_buf *out);

#endif
