/* SPDX-License-Identifier: MIT */
/* Read-only layers, then the user's folder of entries; and what went wrong
 * with that. */
#include "cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evict.h"
#include "explain.h"
#include "file.h"
#include "layers.h"
#include "lock.h"
#include "place.h"
#include "settings.h"

static const char default_layers[] = JG_PKGLIBDIR "/kernels:/var/lib/jitgemm";

/* Each is warned of once. */
enum cause { READ = 1, DAMAGED = 2, WRITE = 4, FULL = 8, LOCK = 16 };

struct jg_cache {
    struct jg_settings settings;
    struct jg_layers layers;
    struct jg_store store;   /* empty: none */
    struct jg_store local;   /* for locks, if the other is far */
    struct jg_buf directory; /* of store, with its version */
    struct changing {
        atomic_uint warned;  /* causes */
        atomic_llong room;   /* bytes to put before the next look around */
        atomic_bool is_full; /* no more puts */
        atomic_ullong corrupt, evicted, lock_waits;
    } own, *now; /* = &own, for holders of a const cache */
};

/* The first of each cause is a warning, the others are for debugging. */
static void report(const struct jg_cache *cache, enum cause cause,
                   const char *what, const char *why, const struct jg_log *log)
{
    unsigned before = atomic_fetch_or(&cache->now->warned, cause);

    jg_log(log, before & cause ? JITGEMM_LOG_DEBUG : JITGEMM_LOG_WARNING,
           "cache %s: %s: %s", (const char *)cache->store.base.data, what,
           why);
}

static bool may_read(const struct jg_cache *cache)
{
    return cache->settings.reads && cache->store.base.data;
}

static bool may_write(const struct jg_cache *cache)
{
    return cache->settings.writes && cache->store.base.data;
}

/* ---- Open, close ---- */

struct jg_cache *jg_cache_open(const char *dir, const struct jg_env *env,
                               const struct jg_log *log)
{
    const char *layers =
        env->cache_ro_path ? env->cache_ro_path : default_layers;
    struct jg_cache *cache = calloc(1, sizeof *cache);

    if (!cache)
        return NULL;
    cache->now = &cache->own;
    if (env->untrusted || (dir && !*dir))
        return cache;
    cache->settings = jg_settings_read(env, log);
    if (!cache->settings.reads && !cache->settings.writes)
        return cache;
    if (jg_place_choose(dir, env, log, &cache->store) != 0 ||
        jg_place_choose_local(env, &cache->local) != 0)
        goto out;
    if (cache->settings.reads &&
        !jg_layers_open(layers, jg_place_trust(env), log, &cache->layers))
        goto out;
    if (cache->store.base.data)
        jg_buf_printf(&cache->directory, "%s/" JG_STORE_VERSION,
                      (const char *)cache->store.base.data);
    if (!cache->directory.failed)
        return cache;
out:
    jg_cache_close(cache);
    return NULL;
}

void jg_cache_close(struct jg_cache *cache)
{
    if (!cache)
        return;
    jg_buf_free(&cache->directory);
    jg_store_free(&cache->local);
    jg_store_free(&cache->store);
    jg_layers_close(&cache->layers);
    free(cache);
}

const char *jg_cache_directory(const struct jg_cache *cache)
{
    return (const char *)cache->directory.data;
}

bool jg_cache_equal(const struct jg_cache *a, const struct jg_cache *b)
{
    return a->settings.reads == b->settings.reads &&
           a->settings.writes == b->settings.writes &&
           a->directory.size == b->directory.size &&
           (!a->directory.size ||
            strcmp(jg_cache_directory(a), jg_cache_directory(b)) == 0) &&
           jg_layers_equal(&a->layers, &b->layers);
}

/* ---- Locks ---- */

/* Opens BASE/v1/l, or that of the local store if BASE is far away. */
static int open_locks(const struct jg_cache *cache, int *folder)
{
    const struct jg_store *store = &cache->store;
    int root, error = jg_store_open(store, NULL, JG_FILE_CREATE, &root);

    if (error)
        return error;
    if (jg_lock_is_remote(root))
        store = &cache->local;
    close(root);
    if (!store->base.data)
        return ENOENT;
    return jg_store_open(store, "l", JG_FILE_CREATE, folder);
}

int jg_cache_lock(const struct jg_cache *cache, const struct jg_key *key,
                  const struct jg_log *log)
{
    const char bucket[] = {key->name[0], key->name[1], 0};
    int folder, error, lock = -1;

    if (!may_read(cache) || !may_write(cache))
        return -1;
    error = open_locks(cache, &folder);
    if (!error) {
        error = jg_lock_take(folder, bucket, cache->store.flags, 0, &lock);
        if (error == EWOULDBLOCK) {
            cache->now->lock_waits++;
            error = jg_lock_take(folder, bucket, cache->store.flags,
                                 cache->settings.lock_seconds, &lock);
        }
        close(folder);
    }
    if (error == EWOULDBLOCK)
        report(cache, LOCK, key->name, "another process keeps its lock", log);
    else if (error)
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: no lock of %s: %s", key->name,
               jg_file_text(error));
    return lock;
}

void jg_cache_unlock(int lock)
{
    jg_lock_release(lock);
}

/* ---- Size ---- */

/* jg_evict() by one process at a time; EWOULDBLOCK if another is at it. */
static int evict(const struct jg_cache *cache, uint64_t limit, uint64_t keep,
                 bool dry, double wait, const struct jg_log *log,
                 struct jg_evicted *evicted)
{
    int folder, lock = -1, error = open_locks(cache, &folder);

    if (error)
        return error;
    error = jg_lock_take(folder, "evict", cache->store.flags, wait, &lock);
    close(folder);
    if (!error)
        error = jg_evict(&cache->store, limit, keep, dry, log, evicted);
    if (!error && !dry)
        cache->now->evicted += evicted->removed;
    jg_lock_release(lock);
    return error;
}

/* Down to where the oldest are removed: by a fifth, so that it is not done at
 * every put. */
static uint64_t low_water(uint64_t bytes)
{
    return bytes / 5 * 4;
}

static void make_room(const struct jg_cache *cache, const struct jg_log *log)
{
    struct jg_evicted there;
    uint64_t keep;

    if (evict(cache, UINT64_MAX, UINT64_MAX, true, 0, NULL, &there) != 0)
        return;
    keep = low_water(there.bytes);
    evict(cache, keep, keep, false, 0, log, &there);
}

/* After a put of that size. Walking through all entries at every put would be
 * slow: with R bytes to go, this process puts R / 8 before it looks again, so
 * that eight that fill the folder at a time keep to the limit, and more pass
 * it by little. */
static void stay_below_limit(const struct jg_cache *cache, size_t size,
                             const struct jg_log *log)
{
    uint64_t limit = cache->settings.max_bytes, left;
    long long put = (long long)size;
    struct jg_evicted evicted;

    if (limit == UINT64_MAX ||
        atomic_fetch_sub(&cache->now->room, put) - put > 0)
        return;
    if (evict(cache, limit, low_water(limit), false, 0, log, &evicted) != 0)
        return; /* another process does it, or nobody can */
    left = evicted.bytes - evicted.removed_bytes;
    cache->now->room = left < limit ? (long long)((limit - left) / 8) : 0;
}

int jg_cache_prune(const struct jg_cache *cache, uint64_t max_bytes, bool dry,
                   const struct jg_log *log, struct jg_evicted *evicted)
{
    if (max_bytes == UINT64_MAX)
        max_bytes = cache->settings.max_bytes;
    if (!may_write(cache))
        return ENOENT;
    return evict(cache, max_bytes, max_bytes, dry,
                 cache->settings.lock_seconds, log, evicted);
}

/* ---- Get, put, quarantine ---- */

static void set_aside(const struct jg_cache *cache, const struct jg_key *key,
                      const char *why, const struct jg_log *log)
{
    int error = jg_store_set_aside(&cache->store, key);

    cache->now->corrupt++;
    report(cache, DAMAGED, key->name, why, log);
    if (error)
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: %s stays: %s", key->name,
               jg_file_text(error));
}

/* In the user's folder. */
static bool find(const struct jg_cache *cache, const struct jg_key *key,
                 struct jg_entry *entry, void **file, const struct jg_log *log)
{
    unsigned stamp = cache->settings.writes ? JG_FILE_STAMP : 0;
    const char *why = NULL;

    switch (jg_store_read(&cache->store, key, stamp, entry, file, &why)) {
    case JG_STORE_HIT:
        return true;
    case JG_STORE_ABSENT:
        jg_explain_miss(jg_cache_directory(cache), cache->store.flags, key,
                        log);
        return false;
    case JG_STORE_UNREADABLE:
        report(cache, READ, key->name, why, log);
        return false;
    case JG_STORE_BAD:
        if (cache->settings.writes)
            set_aside(cache, key, why, log);
        else
            report(cache, DAMAGED, key->name, why, log);
        return false;
    }
    return false;
}

jitgemm_source jg_cache_get(const struct jg_cache *cache,
                            const struct jg_key *key, jitgemm_source refused,
                            struct jg_entry *entry, void **file,
                            const struct jg_log *log)
{
    if (refused < JITGEMM_SOURCE_PACK &&
        jg_layers_find(&cache->layers, key, entry, file, log))
        return JITGEMM_SOURCE_PACK;
    if (refused < JITGEMM_SOURCE_DISK && may_read(cache) &&
        find(cache, key, entry, file, log))
        return JITGEMM_SOURCE_DISK;
    return JITGEMM_SOURCE_NONE;
}

void jg_cache_each(const struct jg_cache *cache, jg_stock_visit *visit,
                   void *user)
{
    jg_layers_each(&cache->layers, visit, user);
    if (may_read(cache))
        jg_stock_each(jg_cache_directory(cache), cache->store.flags, visit,
                      user);
}

/* Writes; once more if a network file system lost track, or if the disk is
 * full but old entries could go. If they do not help, the disk is others' to
 * fill: this process leaves it alone. */
static int store(const struct jg_cache *cache, const struct jg_key *key,
                 const struct jg_buf *bytes, const struct jg_log *log)
{
    int error = jg_store_write(&cache->store, key, bytes);
    bool full = error == ENOSPC || error == EDQUOT;

    if (full)
        make_room(cache, log);
    if (full || error == ESTALE || error == EBUSY)
        error = jg_store_write(&cache->store, key, bytes);
    if (full && error)
        cache->now->is_full = true;
    if (!error)
        stay_below_limit(cache, bytes->size, log);
    return error;
}

bool jg_cache_put(const struct jg_cache *cache, const struct jg_key *key,
                  const struct jg_entry *entry, const struct jg_log *log)
{
    struct jg_entry keyed = *entry, read;
    struct jg_buf bytes = {.data = NULL};
    enum cause cause = WRITE;
    const char *why = NULL;
    int error;

    if (!may_write(cache) || cache->now->is_full)
        return false;
    keyed.key = (struct jg_span){key->blob.data, key->blob.size};
    jg_entry_encode(&keyed, &bytes);
    /* What get would refuse, as a cubin of a layout not known here, would be
     * written and set aside again and again. */
    if (bytes.failed)
        why = jg_file_text(ENOMEM);
    else if (bytes.size > JG_ENTRY_LIMIT)
        why = jg_file_text(JG_FILE_WRONG_SIZE);
    else if (jg_entry_decode((struct jg_span){bytes.data, bytes.size}, &read,
                             &why)) {
        error = store(cache, key, &bytes, log);
        why = error ? jg_file_text(error) : NULL;
        if (error == ENOSPC || error == EDQUOT || error == EFBIG)
            cause = FULL;
    }
    jg_buf_free(&bytes);
    if (why)
        report(cache, cause, "an entry was not written", why, log);
    return !why;
}

void jg_cache_quarantine(const struct jg_cache *cache,
                         const struct jg_key *key, const struct jg_log *log)
{
    if (may_write(cache))
        set_aside(cache, key, "the driver would not load it", log);
}

int jg_cache_load(const struct jg_cache *cache, const char *name, size_t limit,
                  void **bytes, size_t *size)
{
    if (!may_read(cache))
        return ENOENT;
    return jg_store_load(&cache->store, name, limit, bytes, size);
}

int jg_cache_save(const struct jg_cache *cache, const char *name,
                  const struct jg_buf *bytes)
{
    if (!may_write(cache))
        return ENOENT;
    return jg_store_save(&cache->store, name, bytes);
}

struct jg_cache_counts jg_cache_counts(const struct jg_cache *cache)
{
    return (struct jg_cache_counts){
        .corrupt = cache->now->corrupt,
        .evicted = cache->now->evicted,
        .lock_waits = cache->now->lock_waits,
    };
}
