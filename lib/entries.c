/* SPDX-License-Identifier: MIT */
/* The public functions on cache directories and packs. */
#define _POSIX_C_SOURCE 200809L /* O_DIRECTORY */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "file.h"
#include "fork.h"
#include "place.h"
#include "rebuild.h"
#include "stock.h"
#include "view.h"

/* ---- Opening ---- */

/* The last complaint of the cache, which has no other way to say why. */
static void keep_line(void *user, int level, const char *line)
{
    struct jg_buf *last = user;

    (void)level;
    jg_buf_free(last);
    jg_buf_printf(last, "%s", line);
}

static jitgemm_status fail_cache(const struct jg_buf *complaint)
{
    return jg_fail(JITGEMM_E_CACHE, "%s",
                   complaint->size ? (const char *)complaint->data
                                   : "there is no cache directory");
}

/* The cache of a directory, as a context would open it. */
static jitgemm_status open_cache(const char *path, struct jg_cache **cache)
{
    struct jg_env env = jg_env_read();
    struct jg_buf complaint = {.data = NULL};
    struct jg_log log = {keep_line, &complaint, JITGEMM_LOG_WARNING};
    jitgemm_status status = JITGEMM_OK;
    struct jg_cache *made = jg_cache_open(path, &env, &log);

    if (!made)
        status = jg_fail(JITGEMM_E_MEMORY, "out of memory for a cache");
    else if (!jg_cache_directory(made))
        status = fail_cache(&complaint);
    jg_buf_free(&complaint);
    if (status != JITGEMM_OK)
        jg_cache_close(made);
    else
        *cache = made;
    return status;
}

static unsigned trust(void)
{
    const struct jg_env env = jg_env_read();

    return jg_place_trust(&env);
}

static jitgemm_status fail_open(const char *path, int error, const char *why)
{
    jitgemm_status status = error == ENOENT   ? JITGEMM_E_NOT_FOUND
                            : error == ENOMEM ? JITGEMM_E_MEMORY
                                              : JITGEMM_E_CACHE;

    jg_fail(status, "%s: %s", path, why);
    jg_error()->system = error < JG_FILE_UNTRUSTED ? error : 0;
    return status;
}

static jitgemm_status open_stock(const char *path, struct jg_stock **stock)
{
    struct jg_cache *cache = NULL;
    jitgemm_status status = JITGEMM_OK;
    const char *why;
    int error;

    if (!path || !jg_stock_is_pack(path)) {
        status = open_cache(path, &cache);
        if (status != JITGEMM_OK)
            return status;
        path = jg_cache_directory(cache);
    }
    error = jg_stock_open(path, trust(), stock, &why);
    if (error)
        status = fail_open(path, error, why);
    jg_cache_close(cache);
    return status;
}

static jitgemm_status fail_null(const char *argument)
{
    return jg_fail_argument(JITGEMM_E_ARGUMENT, argument, -1, 0, 0,
                            "%s is NULL", argument);
}

/* ---- List ---- */

static jitgemm_status list_one(const struct jg_stock *stock, size_t index,
                               const struct jg_nvrtc *nvrtc,
                               jitgemm_entry_fn function, void *user)
{
    const char *name = jg_stock_name(stock, index), *bad;
    struct jg_buf why = {.data = NULL};
    struct jg_entry entry;
    struct jg_span file;
    struct jg_view view;
    jitgemm_status status;

    if (!jg_stock_read(stock, index, &entry, &file, &bad)) {
        jg_view_bad(name, bad, function, user);
        return JITGEMM_OK;
    }
    status = jg_view_good(name, &entry, file.size, &view);
    if (status == JITGEMM_OK) {
        if (nvrtc)
            view.entry.state = jg_rebuild_compare(nvrtc, &entry, &why);
        if (why.size)
            view.entry.why = (const char *)why.data;
        function(user, &view.entry);
        jg_view_free(&view);
    }
    jg_buf_free(&why);
    free((void *)file.data);
    return status;
}

jitgemm_status jitgemm_cache_list(const char *path, uint32_t flags,
                                  jitgemm_entry_fn entry, void *user)
{
    const struct jg_nvrtc *nvrtc = NULL;
    struct jg_stock *stock = NULL;
    jitgemm_status status;

    if (!entry)
        return fail_null("entry");
    if (flags & ~(uint32_t)JITGEMM_LIST_REBUILD)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "flags", -1, flags,
                                JITGEMM_LIST_REBUILD,
                                "flags is %#x; JITGEMM_LIST_REBUILD is the "
                                "only one known",
                                flags);
    status = jg_fork_enter();
    if (status != JITGEMM_OK)
        return status;
    status = open_stock(path, &stock);
    if (status == JITGEMM_OK && flags & JITGEMM_LIST_REBUILD)
        status = jg_compiler_open(0, &nvrtc);
    if (status == JITGEMM_OK)
        for (size_t i = 0; i < jg_stock_count(stock) && !status; i++)
            status = list_one(stock, i, nvrtc, entry, user);
    jg_stock_close(stock);
    jg_fork_leave();
    return status;
}

jitgemm_status jitgemm_pack_digest(const char *path, char digest[65])
{
    struct jg_pack *pack;
    const char *why;
    int error;

    if (!path)
        return fail_null("path");
    if (!digest)
        return fail_null("digest");
    error = jg_pack_open(AT_FDCWD, path, trust(), &pack, &why);
    if (error)
        return fail_open(path, error, why);
    jg_sha256_text(jg_pack_digest(pack), digest);
    jg_pack_close(pack);
    return JITGEMM_OK;
}

/* ---- Copy ---- */

struct copy {
    jitgemm_entry_fn function;
    void *user;
    struct jg_cache *cache;  /* the target, or NULL: a pack */
    struct jg_buf complaint; /* of the cache */
    struct jg_packed *done;  /* `file` is empty unless for a pack */
    size_t count, capacity;
};

static int compare(const void *a, const void *b)
{
    const struct jg_packed *one = a, *other = b;

    return strcmp(one->name, other->name);
}

static jitgemm_status add(struct copy *copy, const struct jg_packed *entry)
{
    if (copy->count == copy->capacity) {
        size_t capacity = copy->capacity ? 2 * copy->capacity : 64;
        void *done = realloc(copy->done, capacity * sizeof *copy->done);

        if (!done)
            return jg_fail(JITGEMM_E_MEMORY, "out of memory for a pack");
        copy->done = done;
        copy->capacity = capacity;
    }
    copy->done[copy->count++] = *entry;
    return JITGEMM_OK;
}

/* Puts an entry into the cache. */
static jitgemm_status put(struct copy *copy, const struct jg_entry *entry)
{
    struct jg_log log = {keep_line, &copy->complaint, JITGEMM_LOG_WARNING};
    struct jg_key key = {.blob = {.data = NULL}};
    jitgemm_status status = jg_key_copy(entry->key, &key);

    if (status == JITGEMM_OK && !jg_cache_put(copy->cache, &key, entry, &log))
        status = fail_cache(&copy->complaint);
    jg_key_free(&key);
    return status;
}

/* Copies an entry whose key is none of the first `seen`, which are sorted. */
static jitgemm_status copy_one(struct copy *copy, const struct jg_stock *stock,
                               size_t index, size_t seen)
{
    struct jg_packed item = {.file = {.data = NULL}};
    struct jg_entry entry;
    struct jg_span file;
    struct jg_view view = {.text = NULL};
    jitgemm_status status;
    const char *bad;

    memcpy(item.name, jg_stock_name(stock, index), sizeof item.name);
    if (seen && bsearch(&item, copy->done, seen, sizeof item, compare))
        return JITGEMM_OK;
    if (!jg_stock_read(stock, index, &entry, &file, &bad)) {
        jg_view_bad(item.name, bad, copy->function, copy->user);
        return JITGEMM_OK;
    }
    status = jg_view_good(item.name, &entry, file.size, &view);
    if (status == JITGEMM_OK && copy->cache)
        status = put(copy, &entry);
    if (!copy->cache)
        item.file = file;
    if (status == JITGEMM_OK)
        status = add(copy, &item);
    if (status == JITGEMM_OK && copy->function)
        copy->function(copy->user, &view.entry);
    if (status != JITGEMM_OK || copy->cache)
        free((void *)file.data);
    jg_view_free(&view);
    return status;
}

static jitgemm_status copy_source(struct copy *copy, const char *path)
{
    size_t seen = copy->count;
    struct jg_stock *stock = NULL;
    jitgemm_status status = open_stock(path, &stock);

    if (status != JITGEMM_OK)
        return status;
    for (size_t i = 0; i < jg_stock_count(stock) && !status; i++)
        status = copy_one(copy, stock, i, seen);
    jg_stock_close(stock);
    if (copy->count)
        qsort(copy->done, copy->count, sizeof *copy->done, compare);
    return status;
}

static jitgemm_status write_pack(const struct copy *copy, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct jg_buf bytes = {.data = NULL}, parent = {.data = NULL};
    int folder = -1, error = ENOMEM;

    jg_buf_printf(&parent, "%.*s", (int)(name - path), path);
    jg_buf_printf(&parent, ".");
    jg_pack_encode(copy->done, copy->count, &bytes);
    if (!parent.failed && !bytes.failed) {
        folder = open((const char *)parent.data,
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        error = folder < 0
                    ? errno
                    : jg_file_publish(folder, folder, name, JG_FILE_PUBLIC,
                                      bytes.data, bytes.size);
    }
    if (folder >= 0)
        close(folder);
    jg_buf_free(&parent);
    jg_buf_free(&bytes);
    if (!error)
        return JITGEMM_OK;
    return jg_fail(error == ENOMEM ? JITGEMM_E_MEMORY : JITGEMM_E_CACHE,
                   "%s: %s", path, jg_file_text(error));
}

jitgemm_status jitgemm_cache_copy(const char *const *sources, int32_t count,
                                  const char *target, jitgemm_entry_fn entry,
                                  void *user)
{
    bool pack = target && jg_stock_is_pack(target);
    struct copy copy = {.function = entry, .user = user};
    jitgemm_status status = JITGEMM_OK;

    if (!sources)
        return fail_null("sources");
    if (!pack)
        status = open_cache(target, &copy.cache);
    for (int32_t i = 0; i < count && status == JITGEMM_OK; i++)
        status = copy_source(&copy, sources[i]);
    if (pack && status == JITGEMM_OK)
        status = write_pack(&copy, target);
    while (copy.count)
        free((void *)copy.done[--copy.count].file.data);
    free(copy.done);
    jg_buf_free(&copy.complaint);
    jg_cache_close(copy.cache);
    return status;
}
