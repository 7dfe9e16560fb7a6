/* SPDX-License-Identifier: MIT */
/* The folder of entries. Every call walks from the base folder to the entry
 * by descriptors and keeps none: there is nothing to lock, and nothing that a
 * fork or the removal of the folder under a running process makes stale, for
 * microseconds beside the milliseconds that a hit saves.
 *
 *   BASE/v1/CACHEDIR.TAG     tells backup programs to skip it
 *   BASE/v1/e/ab/ab....jgc   entries, by the name of their key
 *   BASE/v1/t/               files being written
 *   BASE/v1/q/               entries found bad; a later one replaces the last
 *
 * To attach later: locks between processes that want one key, in BASE/v1/l/,
 * held by the caller from get to put; eviction, which also sweeps t and q, at
 * the end of put; read-only packs, where get looks first. */
#define _POSIX_C_SOURCE 200809L /* renameat, strdup */
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

#define VERSION "v1" /* of this layout and of the entry format in it */

/* Bytes; bounds what a foreign file makes us allocate. An NVRTC 13.0 cubin of
 * one kernel has tens to hundreds of KiB. */
static const size_t entry_limit = (size_t)64 << 20;

/* Each is warned of once. */
enum cause { DIRECTORY = 1, READ = 2, DAMAGED = 4, WRITE = 8, FULL = 16 };

struct jg_cache {
    struct jg_buf base;         /* path; empty: no cache */
    struct jg_buf directory;    /* base/v1 */
    bool make_parent;           /* of base, at the first put */
    unsigned base_flags, flags; /* JG_FILE_*: for base, and for all below */
    atomic_uint warned_bits, *warned;      /* the pointers are for holders */
    atomic_ullong corrupt_count, *corrupt; /* of a const cache */
};

/* The first of each cause is a warning, the others are for debugging. */
static void report(const struct jg_cache *cache, enum cause cause,
                   const char *what, const char *why, const struct jg_log *log)
{
    unsigned before = atomic_fetch_or(cache->warned, cause);
    const char *base = cache->base.data ? (char *)cache->base.data : "off";

    jg_log(log, before & cause ? JITGEMM_LOG_DEBUG : JITGEMM_LOG_WARNING,
           "cache %s: %s: %s", base, what, why);
}

/* ---- Choice of the directory ---- */

struct choice {
    const char *top;  /* NULL: not available */
    const char *rest; /* below top */
    bool named;       /* by the user: this or none */
    bool follow;      /* may be a link: only the user can have put it there */
};

/* Memory to free(), or NULL if out of memory. */
static char *parent_of(const char *path)
{
    char *parent = strdup(path), *slash = parent ? strrchr(parent, '/') : NULL;

    if (slash)
        slash[slash == parent] = 0;
    return parent;
}

/* 0 if `path` is a trusted folder or the first put may make it. Of parents,
 * only $XDG_CACHE_HOME and $HOME/.cache are made: the XDG base directory
 * specification wants that of whoever first needs them, and without it a
 * fresh account would be left with /tmp. A home that is not there, or not
 * this user's (root under sudo), is left alone. */
static int probe(const char *path, const struct choice *choice, unsigned flags,
                 bool *make_parent)
{
    char *parent = NULL, *above = NULL;
    int folder, error;

    error = jg_file_open_folder(AT_FDCWD, path, flags, &folder);
    if (!error)
        close(folder);
    if (error != ENOENT)
        return error;
    parent = parent_of(path);
    above = parent ? parent_of(parent) : NULL;
    error = above ? jg_file_may_create(parent, !choice->named) : ENOMEM;
    if (error == ENOENT && !choice->named) {
        error = jg_file_may_create(above, true);
        *make_parent = !error;
    }
    free(above);
    free(parent);
    return error;
}

/* Makes this the cache's directory, if it can be. */
static int take(struct jg_cache *cache, const struct choice *choice)
{
    unsigned flags = cache->flags | (choice->follow ? JG_FILE_FOLLOW : 0);
    struct jg_buf base = {.data = NULL};
    int error;

    jg_buf_printf(&base, "%s%s", choice->top, choice->rest);
    /* After a slash at the end, a link is followed whatever the flags say. */
    while (base.size > 1 && base.data[base.size - 1] == '/')
        base.data[--base.size] = 0;
    error = base.failed
                ? ENOMEM
                : probe((char *)base.data, choice, flags, &cache->make_parent);
    if (error) {
        jg_buf_free(&base);
        return error;
    }
    cache->base = base;
    cache->base_flags = flags;
    jg_buf_printf(&cache->directory, "%s/" VERSION, (char *)base.data);
    return cache->directory.failed ? ENOMEM : 0;
}

/* The first that will do; 0 or ENOMEM. A named directory that will not do
 * leaves the cache off: a silent other place would surprise. */
static int choose(struct jg_cache *cache, const struct choice *choices,
                  size_t count, const struct jg_log *log)
{
    for (size_t i = 0; i < count; i++) {
        const struct choice *choice = &choices[i];
        const char *top = choice->top;
        int error;

        /* HOME=/ is what services without a home get. */
        if (!top || (!choice->named && !top[strspn(top, "/")]))
            continue;
        error = *top == '/' ? take(cache, choice) : EINVAL;
        if (!error || error == ENOMEM)
            return error;
        if (choice->named) {
            report(cache, DIRECTORY, top, jg_file_text(error), log);
            return 0;
        }
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: not %s%s: %s", top,
               choice->rest, jg_file_text(error));
    }
    report(cache, DIRECTORY, "no directory", "none can be used", log);
    return 0;
}

struct jg_cache *jg_cache_open(const char *dir, const struct jg_env *env,
                               const struct jg_log *log)
{
    struct jg_cache *cache = calloc(1, sizeof *cache);
    char own[40];
    const struct choice choices[] = {
        {dir, "", true, true},
        {env->cache_dir, "", true, true},
        {env->xdg_cache_home, "/jitgemm", false, true},
        {env->home, "/.cache/jitgemm", false, true},
        {"/tmp/", own, false, false},
    };

    if (!cache)
        return NULL;
    cache->warned = &cache->warned_bits;
    cache->corrupt = &cache->corrupt_count;
    cache->flags = env->trust_group ? JG_FILE_GROUP : 0;
    snprintf(own, sizeof own, "jitgemm-%lu", (unsigned long)geteuid());
    if (env->untrusted || (dir && !*dir))
        return cache;
    if (choose(cache, choices, sizeof choices / sizeof *choices, log) != 0) {
        jg_cache_close(cache);
        return NULL;
    }
    return cache;
}

void jg_cache_close(struct jg_cache *cache)
{
    if (!cache)
        return;
    jg_buf_free(&cache->directory);
    jg_buf_free(&cache->base);
    free(cache);
}

const char *jg_cache_directory(const struct jg_cache *cache)
{
    return (const char *)cache->directory.data;
}

/* ---- The way to an entry ---- */

/* Folders on the way to a key's entry, -1 while closed, and its names. */
struct way {
    int root, shard;
    char shard_name[3];
    char file[JG_KEY_NAME_LENGTH + sizeof ".jgc"];
};

static void close_folder(int folder)
{
    if (folder >= 0)
        close(folder);
}

/* Below the folder `parent`, which it closes. */
static int descend(int parent, const char *name, unsigned flags, int *folder)
{
    int error = jg_file_open_folder(parent, name, flags, folder);

    close(parent);
    return error;
}

/* `create` is JG_FILE_CREATE or 0. To be closed whether it succeeds or not. */
static int open_way(const struct jg_cache *cache, const struct jg_key *key,
                    unsigned create, struct way *way)
{
    unsigned flags = cache->flags | create;
    const char *path = (const char *)cache->base.data;
    int base, entries, error;

    way->root = way->shard = -1;
    snprintf(way->shard_name, sizeof way->shard_name, "%.2s", key->name);
    snprintf(way->file, sizeof way->file, "%s.jgc", key->name);
    error =
        jg_file_open_folder(AT_FDCWD, path, cache->base_flags | create, &base);
    if (!error)
        error = descend(base, VERSION, flags, &way->root);
    if (!error)
        error = jg_file_open_folder(way->root, "e", flags, &entries);
    if (!error)
        error = descend(entries, way->shard_name, flags, &way->shard);
    return error;
}

static void close_way(const struct way *way)
{
    close_folder(way->shard);
    close_folder(way->root);
}

/* Moves an entry to q. It may have been replaced by a good one meanwhile:
 * then that is lost, which costs one more compile. */
static void set_aside(const struct jg_cache *cache, const struct way *way,
                      const char *why, const struct jg_log *log)
{
    int folder = -1, error;

    error = jg_file_open_folder(way->root, "q", cache->flags | JG_FILE_CREATE,
                                &folder);
    if (!error && renameat(way->shard, way->file, folder, way->file) != 0)
        error = errno;
    atomic_fetch_add(cache->corrupt, 1);
    report(cache, DAMAGED, way->file, why, log);
    if (error)
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: %s stays: %s", way->file,
               jg_file_text(error));
    close_folder(folder);
}

/* ---- Get, put, quarantine ---- */

/* Decodes a file that must be the entry of `key`. */
static bool accept_entry(const struct jg_key *key, struct jg_span file,
                         struct jg_entry *entry, const char **why)
{
    struct jg_entry read;

    if (!jg_entry_decode(file, &read, why))
        return false;
    if (read.key.size != key->blob.size ||
        memcmp(read.key.data, key->blob.data, key->blob.size) != 0) {
        *why = "entry of another key";
        return false;
    }
    *entry = read;
    return true;
}

bool jg_cache_get(const struct jg_cache *cache, const struct jg_key *key,
                  struct jg_entry *entry, void **file,
                  const struct jg_log *log)
{
    const char *why = NULL;
    void *bytes = NULL;
    bool hit = false;
    struct way way;
    size_t size = 0;
    int error;

    if (!cache->base.data)
        return false;
    error = open_way(cache, key, 0, &way);
    if (!error)
        error = jg_file_read(way.shard, way.file, cache->flags, entry_limit,
                             &bytes, &size);
    if (error == ENOENT)
        jg_log(log, JITGEMM_LOG_DEBUG, "cache: no %s", way.file);
    else if (error && (error < JG_FILE_UNTRUSTED || way.shard < 0))
        report(cache, READ, way.file, jg_file_text(error), log);
    else if (error)
        set_aside(cache, &way, jg_file_text(error), log);
    else if (!accept_entry(key, (struct jg_span){bytes, size}, entry, &why))
        set_aside(cache, &way, why, log);
    else
        hit = true;
    close_way(&way);
    if (hit)
        *file = bytes;
    else
        free(bytes);
    return hit;
}

/* Makes what is missing and publishes the bytes. */
static int store(const struct jg_cache *cache, const struct jg_key *key,
                 const struct jg_buf *bytes)
{
    static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                              "# Kernels compiled by libjitgemm; may be "
                              "removed at any time.\n";
    int scratch = -1, error;
    struct way way;

    if (cache->make_parent) {
        char *parent = parent_of((const char *)cache->base.data);

        if (parent) /* an error shows in the next step */
            mkdir(parent, 0700);
        free(parent);
    }
    error = open_way(cache, key, JG_FILE_CREATE, &way);
    if (!error)
        error = jg_file_open_folder(way.root, "t",
                                    cache->flags | JG_FILE_CREATE, &scratch);
    if (!error)
        error = jg_file_publish(scratch, way.shard, way.file, cache->flags,
                                bytes->data, bytes->size);
    if (!error && faccessat(way.root, "CACHEDIR.TAG", F_OK, 0) != 0)
        jg_file_publish(scratch, way.root, "CACHEDIR.TAG", cache->flags, tag,
                        sizeof tag - 1); /* nothing depends on it */
    close_folder(scratch);
    close_way(&way);
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

    if (!cache->base.data)
        return false;
    keyed.key = (struct jg_span){key->blob.data, key->blob.size};
    jg_entry_encode(&keyed, &bytes);
    /* What get would refuse, as a cubin of a layout not known here, would be
     * written and set aside again and again. */
    if (bytes.failed)
        why = jg_file_text(ENOMEM);
    else if (bytes.size > entry_limit)
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
    struct way way;

    if (!cache->base.data)
        return;
    if (!open_way(cache, key, 0, &way))
        set_aside(cache, &way, "the driver would not load it", log);
    close_way(&way);
}

struct jg_cache_counts jg_cache_counts(const struct jg_cache *cache)
{
    return (struct jg_cache_counts){.corrupt = atomic_load(cache->corrupt)};
}
