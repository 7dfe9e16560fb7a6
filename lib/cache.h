/* SPDX-License-Identifier: MIT */
/* Disk cache: key -> entry. Never a reason to fail: whatever goes wrong is a
 * miss, and one warning a cause. Knows nothing of CUDA. */
#ifndef JG_CACHE_H
#define JG_CACHE_H

#include "entry.h"
#include "env.h"
#include "key.h"

/* Any number of threads and processes. */
struct jg_cache;

/* Chooses the directory (place.h) from `dir`, a context option, where ""
 * means none, and the environment; none if env->untrusted. Writes nothing:
 * the first lock or put makes what is missing.
 * Always succeeds unless out of memory (then NULL): without a directory, all
 * is a miss. `log` may be NULL, here and below. */
struct jg_cache *jg_cache_open(const char *dir, const struct jg_env *env,
                               const struct jg_log *log);
void jg_cache_close(struct jg_cache *cache); /* NULL is allowed */

/* The directory in use, with its version folder, or NULL. */
const char *jg_cache_directory(const struct jg_cache *cache);

/* On a hit the entry's spans point into *file, which the caller frees with
 * free(); on a miss neither is written. A damaged or foreign entry is moved to
 * quarantine. */
bool jg_cache_get(const struct jg_cache *cache, const struct jg_key *key,
                  struct jg_entry *entry, void **file,
                  const struct jg_log *log);

/* Publishes atomically, in place of what was there; false if it could not.
 * The key stored is `key`, whatever entry->key is. The caller goes on with
 * the bytes it has: nothing is read back. */
bool jg_cache_put(const struct jg_cache *cache, const struct jg_key *key,
                  const struct jg_entry *entry, const struct jg_log *log);

/* Takes an entry that the driver would not load out of the way. */
void jg_cache_quarantine(const struct jg_cache *cache,
                         const struct jg_key *key, const struct jg_log *log);

/* One compile a key a machine: who missed takes the key's lock, looks once
 * more, and only then compiles, puts and unlocks. Waits for other processes
 * and threads up to JITGEMM_LOCK_TIMEOUT seconds (30). -1 if there is no lock
 * to be had, which jg_cache_unlock() allows: then keys may be compiled twice,
 * and that is all. */
int jg_cache_lock(const struct jg_cache *cache, const struct jg_key *key,
                  const struct jg_log *log);
void jg_cache_unlock(int lock);

#endif
