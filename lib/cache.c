/* SPDX-License-Identifier: MIT */
/* Read-only layers, then the user's folder of entries; and what went wrong
 * with that. */
#include "cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "layers.h"
#include "lock.h"
#include "place.h"

static const char default_layers[] =
    JG_PKGLIBDIR "/kernels:/var/lib/jitgemm";

/* Each is warned of once. */
enum cause { READ = 1, DAMAGED = 2, WRITE = 4, FULL = 8, LOCK = 16 };

struct jg_cache {
    bool reads, writes;      /* JITGEMM_MODE */
    struct jg_layers layers;
    struct jg_store store;   /* empty: none */
    struct jg_store local;   /* for locks, if the other is far */
    struct jg_buf directory; /* of store, with its version */
    double lock_seconds;
    atomic_uint warned_bits;
    atomic_uint *warned; /* = &warned_bits, for holders of a const cache */
};

/* The first of each cause is a warning, the others are for debugging. */
static void report(const struct jg_cache *cache, enum cause cause,
                   const char *what, const char *why, const struct jg_log *log)
{
    unsigned before = atomic_fetch_or(cache->warned, cause);

    jg_log(log, before & cause ? JITGEMM_LOG_DEBUG : JITGEMM_LOG_WARNING,
           "cache %s: %s: %s", (const char *)cache->store.base.data, what,
           why);
}

static bool may_read(const struct jg_cache *cache)
{
    return cache->reads && cache->store.base.data;
}

static bool may_write(const struct jg_cache *cache)
{
    return cache->writes && cache->store.base.data;
}

/* ---- Open, close ---- */

/* `otherwise` if the text is missing or no number of seconds. */
static double read_seconds(const char *text, double otherwise,
                           const struct jg_log *log)
{
    char *end;
    double seconds;

    if (!text)
        return otherwise;
    seconds = strtod(text, &end);
    if (!*end && seconds >= 0 && seconds <= 86400)
        return seconds;
    jg_log(log, JITGEMM_LOG_WARNING,
           "cache: JITGEMM_LOCK_TIMEOUT is \"%s\", not 0 to 86400 seconds",
           text);
    return otherwise;
}

/* False for off. A mode not known here is the usual one. */
static bool read_mode(struct jg_cache *cache, const char *mode,
                      const struct jg_log *log)
{
    static const struct {
        const char *name;
        bool reads, writes;
    } modes[] = {
        {"readwrite", true, true},
        {"read", true, false},
        {"write", false, true},
        {"off", false, false},
    };

    cache->reads = cache->writes = true;
    for (size_t i = 0; mode && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(mode, modes[i].name) == 0) {
            cache->reads = modes[i].reads;
            cache->writes = modes[i].writes;
            mode = NULL;
        }
    }
    if (mode)
        jg_log(log, JITGEMM_LOG_WARNING,
               "cache: JITGEMM_MODE is \"%s\", not readwrite, read, write or "
               "off",
               mode);
    return cache->reads || cache->writes;
}

struct jg_cache *jg_cache_open(const char *dir, const struct jg_env *env,
                               const struct jg_log *log)
{
    const char *layers =
        env->cache_ro_path ? env->cache_ro_path : default_layers;
    struct jg_cache *cache = calloc(1, sizeof *cache);

    if (!cache)
        return NULL;
    cache->warned = &cache->warned_bits;
    if (env->untrusted || (dir && !*dir) || !read_mode(cache, env->mode, log))
        return cache;
    cache->lock_seconds = read_seconds(env->lock_timeout, 30, log);
    if (jg_place_choose(dir, env, log, &cache->store) != 0 ||
        jg_place_choose_local(env, &cache->local) != 0)
        goto out;
    if (cache->reads &&
        !jg_layers_open(layers, env->trust_group ? JG_FILE_GROUP : 0, log,
                        &cache->layers))
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
    return a->reads == b->reads && a->writes == b->writes &&
           a->directory.size == b->directory.size &&
           (!a->directory.size ||
            strcmp(jg_cache_directory(a), jg_cache_directory(b)) == 0) &&
           jg_layers_equal(&a->layers, &b->layers);
}

/* ---- Get, put, quarantine ---- */

static void set_aside(const struct jg_cache *cache, const struct jg_key *key,
                      const char *why, const struct jg_log *log)
{
    int error = jg_store_set_aside(&cache->store, key);

    report(cache, DAMAGED, key->name, why, log);
    if (error)
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: %s stays: %s", key->name,
               jg_file_text(error));
}

/* In the user's folder. */
static bool find(const struct jg_cache *cache, const struct jg_key *key,
                 struct jg_entry *entry, void **file, const struct jg_log *log)
{
    unsigned stamp = cache->writes ? JG_FILE_STAMP : 0;
    const char *why = NULL;

    switch (jg_store_read(&cache->store, key, stamp, entry, file, &why)) {
    case JG_STORE_HIT:
        return true;
    case JG_STORE_ABSENT:
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: no %s: %s", key->name, why);
        return false;
    case JG_STORE_UNREADABLE:
        report(cache, READ, key->name, why, log);
        return false;
    case JG_STORE_BAD:
        if (cache->writes)
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
    if (refused != JITGEMM_SOURCE_PACK &&
        jg_layers_find(&cache->layers, key, entry, file, log))
        return JITGEMM_SOURCE_PACK;
    if (may_read(cache) && find(cache, key, entry, file, log))
        return JITGEMM_SOURCE_DISK;
    return JITGEMM_SOURCE_NONE;
}

/* Writes, once more if a network file system lost track. */
static int store(const struct jg_cache *cache, const struct jg_key *key,
                 const struct jg_buf *bytes)
{
    int error = jg_store_write(&cache->store, key, bytes);

    if (error == ESTALE || error == EBUSY)
        error = jg_store_write(&cache->store, key, bytes);
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

    if (!may_write(cache))
        return false;
    keyed.key = (struct jg_span){key->blob.data, key->blob.size};
    jg_entry_encode(&keyed, &bytes);
    /* What get would refuse, as a cubin of a layout not known here, would be
     * written and set aside again and again. */
    if (bytes.failed)
        why = jg_file_text(ENOMEM);
    else if (bytes.size > JG_STORE_ENTRY_LIMIT)
        why = jg_file_text(JG_FILE_WRONG_SIZE);
    else if (jg_entry_decode((struct jg_span){bytes.data, bytes.size}, &read,
                             &why)) {
        error = store(cache, key, &bytes);
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
        error = jg_lock_take(folder, bucket, cache->store.flags,
                             cache->lock_seconds, &lock);
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
