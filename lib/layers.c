/* SPDX-License-Identifier: MIT */
/* Read-only layers, one after the other. */
#define _GNU_SOURCE /* scandirat */
#include "layers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

struct jg_layer {
    struct jg_store store;
    struct jg_pack **packs; /* in store.base, in the order of their names */
    size_t pack_count;
    atomic_bool warned;
};

static const char *path_of(const struct jg_layer *layer)
{
    return (const char *)layer->store.base.data;
}

static void close_layer(struct jg_layer *layer)
{
    while (layer->pack_count)
        jg_pack_close(layer->packs[--layer->pack_count]);
    free(layer->packs);
    layer->packs = NULL;
    jg_store_free(&layer->store);
}

/* Each once: a warning, then for debugging. */
static void complain(struct jg_layer *layer, const char *what, const char *why,
                     const struct jg_log *log)
{
    jg_log(log,
           atomic_exchange(&layer->warned, true) ? JITGEMM_LOG_DEBUG
                                                 : JITGEMM_LOG_WARNING,
           "cache layer %s: %s: %s", path_of(layer), what, why);
}

static int is_pack(const struct dirent *item)
{
    return jg_stock_is_pack(item->d_name);
}

/* Opens the packs in the layer's folder. False if out of memory. */
static bool open_packs(struct jg_layer *layer, int folder,
                       const struct jg_log *log)
{
    struct dirent **names = NULL;
    int count = scandirat(folder, ".", &names, is_pack, alphasort);
    bool good = true;

    if (count > 0) {
        layer->packs = calloc((size_t)count, sizeof *layer->packs);
        good = layer->packs != NULL;
    }
    for (int i = 0; i < count; i++) {
        struct jg_pack *pack;
        const char *why;
        int error = !good ? ENOMEM
                          : jg_pack_open(folder, names[i]->d_name,
                                         layer->store.flags, &pack, &why);

        if (!error)
            layer->packs[layer->pack_count++] = pack;
        else if (error == ENOMEM)
            good = false;
        else
            complain(layer, names[i]->d_name, why, log);
        free(names[i]);
    }
    free(names);
    return good;
}

/* Whether there is something to look into: packs, or a folder of entries.
 * Returns 0, ENOMEM or why not. */
static int open_layer(struct jg_layer *layer, const struct jg_log *log)
{
    int folder, error;

    if (*path_of(layer) != '/')
        return EINVAL;
    error = jg_file_open_folder(AT_FDCWD, path_of(layer),
                                layer->store.base_flags, &folder);
    if (error)
        return error;
    if (!open_packs(layer, folder, log))
        error = ENOMEM;
    close(folder);
    if (error || layer->pack_count)
        return error;
    error = jg_store_open(&layer->store, "e", 0, &folder);
    if (!error)
        close(folder);
    return error;
}

/* Adds the folder at `path` if it is one to look into. False if out of
 * memory. */
static bool add_layer(struct jg_layers *layers, struct jg_span path,
                      unsigned flags, const struct jg_log *log)
{
    struct jg_layer *layer = &layers->items[layers->count];
    int error;

    if (!path.size)
        return true;
    /* The list is the administrator's or the user's: it may name a link. */
    layer->store.base_flags = flags | JG_FILE_FOLLOW;
    layer->store.flags = flags;
    jg_buf_add(&layer->store.base, path.data, path.size);
    error = layer->store.base.failed ? ENOMEM : open_layer(layer, log);
    if (!error) {
        layers->count++;
        return true;
    }
    if (error != ENOMEM)
        jg_log(log, error == ENOENT ? JITGEMM_LOG_DEBUG : JITGEMM_LOG_WARNING,
               "cache: no layer %s: %s", path_of(layer), jg_file_text(error));
    close_layer(layer);
    return error != ENOMEM;
}

bool jg_layers_open(const char *list, unsigned flags, const struct jg_log *log,
                    struct jg_layers *layers)
{
    struct jg_layers open = {.count = 0};
    size_t most = 1;

    for (const char *colon = list; (colon = strchr(colon, ':')); colon++)
        most++;
    open.items = calloc(most, sizeof *open.items);
    if (!open.items)
        return false;
    for (;;) {
        size_t size = strcspn(list, ":");

        if (!add_layer(&open, (struct jg_span){list, size}, flags, log)) {
            jg_layers_close(&open);
            return false;
        }
        if (!list[size])
            break;
        list += size + 1;
    }
    *layers = open;
    return true;
}

void jg_layers_close(struct jg_layers *layers)
{
    while (layers->count)
        close_layer(&layers->items[--layers->count]);
    free(layers->items);
    layers->items = NULL;
}

static bool find_in(struct jg_layer *layer, const struct jg_key *key,
                    struct jg_entry *entry, void **file,
                    const struct jg_log *log)
{
    const char *why;
    enum jg_store_result result;

    for (size_t i = 0; i < layer->pack_count; i++) {
        if (jg_pack_find(layer->packs[i], key, entry, file, &why))
            return true;
        if (why)
            complain(layer, key->name, why, log);
    }
    result = jg_store_read(&layer->store, key, 0, entry, file, &why);
    if (result != JG_STORE_HIT && result != JG_STORE_ABSENT)
        complain(layer, key->name, why, log);
    return result == JG_STORE_HIT;
}

bool jg_layers_find(const struct jg_layers *layers, const struct jg_key *key,
                    struct jg_entry *entry, void **file,
                    const struct jg_log *log)
{
    for (size_t i = 0; i < layers->count; i++)
        if (find_in(&layers->items[i], key, entry, file, log))
            return true;
    return false;
}

static void each_of_pack(const struct jg_pack *pack, jg_stock_visit *visit,
                         void *user)
{
    for (size_t i = 0; i < jg_pack_count(pack); i++) {
        struct jg_entry entry;
        struct jg_span file;
        const char *why;

        if (!jg_pack_read(pack, i, &file, &why))
            continue;
        if (jg_entry_decode(file, &entry, &why))
            visit(user, &entry);
        free((void *)file.data);
    }
}

void jg_layers_each(const struct jg_layers *layers, jg_stock_visit *visit,
                    void *user)
{
    for (size_t i = 0; i < layers->count; i++) {
        const struct jg_layer *layer = &layers->items[i];
        struct jg_buf path = {.data = NULL};

        for (size_t p = 0; p < layer->pack_count; p++)
            each_of_pack(layer->packs[p], visit, user);
        jg_buf_printf(&path, "%s/" JG_STORE_VERSION, path_of(layer));
        if (!path.failed)
            jg_stock_each((const char *)path.data, layer->store.flags, visit,
                          user);
        jg_buf_free(&path);
    }
}

bool jg_layers_equal(const struct jg_layers *a, const struct jg_layers *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(path_of(&a->items[i]), path_of(&b->items[i])) != 0)
            return false;
    return true;
}
