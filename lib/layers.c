/* SPDX-License-Identifier: MIT */
/* Read-only layers, one after the other. */
#include "layers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

struct jg_layer {
    struct jg_store store;
    atomic_bool warned;
    /* Packs in store.base are to be opened by add_layer(), and looked up by
     * find_in() before the folder. */
};

static const char *path_of(const struct jg_layer *layer)
{
    return (const char *)layer->store.base.data;
}

/* Adds the folder at `path` if it is one to look into. False if out of
 * memory. */
static bool add_layer(struct jg_layers *layers, struct jg_span path,
                      unsigned flags, const struct jg_log *log)
{
    struct jg_layer *layer = &layers->items[layers->count];
    int folder, error;

    if (!path.size)
        return true;
    /* The list is the administrator's or the user's: it may name a link. */
    layer->store.base_flags = flags | JG_FILE_FOLLOW;
    layer->store.flags = flags;
    jg_buf_add(&layer->store.base, path.data, path.size);
    if (layer->store.base.failed) {
        jg_store_free(&layer->store);
        return false;
    }
    error = *path_of(layer) == '/'
                ? jg_store_open(&layer->store, "e", 0, &folder)
                : EINVAL;
    if (!error) {
        close(folder);
        layers->count++;
        return true;
    }
    jg_log(log, error == ENOENT ? JITGEMM_LOG_DEBUG : JITGEMM_LOG_WARNING,
           "cache: no layer %s: %s", path_of(layer), jg_file_text(error));
    jg_store_free(&layer->store);
    return true;
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
        jg_store_free(&layers->items[--layers->count].store);
    free(layers->items);
    layers->items = NULL;
}

static bool find_in(struct jg_layer *layer, const struct jg_key *key,
                    struct jg_entry *entry, void **file,
                    const struct jg_log *log)
{
    const char *why;
    enum jg_store_result result =
        jg_store_read(&layer->store, key, 0, entry, file, &why);

    if (result == JG_STORE_HIT || result == JG_STORE_ABSENT)
        return result == JG_STORE_HIT;
    jg_log(log,
           atomic_exchange(&layer->warned, true) ? JITGEMM_LOG_DEBUG
                                                 : JITGEMM_LOG_WARNING,
           "cache layer %s: %s: %s", path_of(layer), key->name, why);
    return false;
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

bool jg_layers_equal(const struct jg_layers *a, const struct jg_layers *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(path_of(&a->items[i]), path_of(&b->items[i])) != 0)
            return false;
    return true;
}
