/* SPDX-License-Identifier: MIT */
/* Disk cache: key -> entry. Never a reason to fail: whatever goes wrong is a
 * miss, and one warning a cause. Knows nothing of CUDA. */
#ifndef JG_CACHE_H
#define JG_CACHE_H

#include "entry.h"
#include "env.h"
#include "key.h"

/* Immutable once open; any number of threads and processes. */
struct jg_cache;

/* Chooses the directory: `dir` (a context option; "" means none), else
 * env->cache_dir, else the first that will do of $XDG_CACHE_HOME/jitgemm,
 * $HOME/.cache/jitgemm and /tmp/jitgemm-UID; none if env->untrusted. It must
 * be trusted (file.h), or absent where it could be made. A directory named by
 * `dir` or env->cache_dir that will not do means none. Writes nothing: the
 * first put makes what is missing, of the parents at most $XDG_CACHE_HOME or
 * $HOME/.cache.
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

/* So far. */
struct jg_cache_counts {
    unsigned long long corrupt;    /* entries set aside */
    unsigned long long evicted;    /* always 0: nothing evicts yet */
    unsigned long long lock_waits; /* always 0: nothing locks yet */
};
struct jg_cache_counts jg_cache_counts(const struct jg_cache *cache);

/* Takes an entry that the driver would not load out of the way. */
void jg_cache_quarantine(const struct jg_cache *cache,
                         const struct jg_key *key, const struct jg_log *log);

#endif
