/* SPDX-License-Identifier: MIT */
/* Disk cache: key -> entry. Never a reason to fail: whatever goes wrong is a
 * miss, and one warning a cause. Knows nothing of CUDA. */
#ifndef JG_CACHE_H
#define JG_CACHE_H

#include "entry.h"
#include "env.h"
#include "evict.h"
#include "key.h"
#include "stock.h"

/* Any number of threads and processes. */
struct jg_cache;

/* Chooses the directory (place.h) from `dir`, a context option, and the
 * environment, as well as the read-only layers (layers.h) that are looked up
 * before it; neither if `dir` is "" or env->untrusted. Of JITGEMM_MODE, read
 * makes the directory one more layer, write finds nothing and puts, off does
 * neither. Writes nothing: the first lock or put makes what is missing.
 * Always succeeds unless out of memory (then NULL): without a directory, all
 * is a miss. `log` may be NULL, here and below. */
struct jg_cache *jg_cache_open(const char *dir, const struct jg_env *env,
                               const struct jg_log *log);
void jg_cache_close(struct jg_cache *cache); /* NULL is allowed */

/* The directory in use, with its version folder, or NULL. */
const char *jg_cache_directory(const struct jg_cache *cache);

/* Whether both give and take the same. */
bool jg_cache_equal(const struct jg_cache *a, const struct jg_cache *b);

/* Looks in the layers, then in the directory, and says where the entry is:
 * JITGEMM_SOURCE_PACK, _DISK, or _NONE for a miss. What was found in `refused`
 * (_NONE at first) would not load: looks only behind it.
 * On a hit the entry's spans point into *file, which the caller frees with
 * free(); on a miss neither is written. A damaged or foreign entry of the
 * directory is moved to quarantine. */
jitgemm_source jg_cache_get(const struct jg_cache *cache,
                            const struct jg_key *key, jitgemm_source refused,
                            struct jg_entry *entry, void **file,
                            const struct jg_log *log);

/* Calls for every good entry that jg_cache_get() might find, some of which
 * more than once. Reads them all. */
void jg_cache_each(const struct jg_cache *cache, jg_stock_visit *visit,
                   void *user);

/* Publishes atomically, in place of what was there; false if it could not.
 * Removes old entries if there are more than JITGEMM_CACHE_MAX_SIZE allows,
 * or if the disk is full.
 * The key stored is `key`, whatever entry->key is. The caller goes on with
 * the bytes it has: nothing is read back. */
bool jg_cache_put(const struct jg_cache *cache, const struct jg_key *key,
                  const struct jg_entry *entry, const struct jg_log *log);

/* Small files beside the entries: jg_store_load() and jg_store_save() of the
 * directory. ENOENT if there is none that may be read or written. */
int jg_cache_load(const struct jg_cache *cache, const char *name, size_t limit,
                  void **bytes, size_t *size);
int jg_cache_save(const struct jg_cache *cache, const char *name,
                  const struct jg_buf *bytes);

/* Takes an entry of the directory that the driver would not load out of the
 * way. */
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

/* Removes the entries used least recently until the rest has at most
 * max_bytes, or UINT64_MAX: what JITGEMM_CACHE_MAX_SIZE allows; `dry`: only
 * counts. Returns 0 or an error of file.h: ENOENT if there is no directory
 * that may be written. */
int jg_cache_prune(const struct jg_cache *cache, uint64_t max_bytes, bool dry,
                   const struct jg_log *log, struct jg_evicted *evicted);

/* So far, by this cache. */
struct jg_cache_counts {
    unsigned long long corrupt;    /* entries set aside */
    unsigned long long evicted;    /* entries removed */
    unsigned long long lock_waits; /* locks that somebody else held */
};
struct jg_cache_counts jg_cache_counts(const struct jg_cache *cache);

#endif
