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

/* Chooses the directory: `dir` (a context option; "" means none), else the
 * environment's, and checks that it may be trusted. Creates nothing above the
 * leaf. Always succeeds unless out of memory (then NULL): an unusable
 * directory makes a cache that misses. `log` may be NULL. */
struct jg_cache *jg_cache_open(const char *dir, const struct jg_env *env,
                               const struct jg_log *log);
void jg_cache_close(struct jg_cache *cache); /* NULL is allowed */

/* The directory in use, with its version folder, or NULL. */
const char *jg_cache_directory(const struct jg_cache *cache);

/* On a hit the entry's spans point into *file, which the caller frees with
 * free(). A damaged or foreign entry is moved to quarantine. */
bool jg_cache_get(const struct jg_cache *cache, const struct jg_key *key,
                  struct jg_entry *entry, void **file,
                  const struct jg_log *log);

/* Publishes atomically; false if it could not. */
bool jg_cache_put(const struct jg_cache *cache, const struct jg_key *key,
                  const struct jg_entry *entry, const struct jg_log *log);

/* Takes an entry that the driver would not load out of the way. */
void jg_cache_quarantine(const struct jg_cache *cache,
                         const struct jg_key *key, const struct jg_log *log);

#endif
