/* SPDX-License-Identifier: MIT */
/* Read-only layers: folders that others fill, as a package or a container
 * image does, with packs, or with entries as a store has them. Looked up in
 * place, packs first; nothing in them is written, stamped, locked, set aside
 * or evicted. */
#ifndef JG_LAYERS_H
#define JG_LAYERS_H

#include "stock.h"
#include "store.h"

struct jg_layers {
    struct jg_layer *items; /* in order of lookup */
    size_t count;
};

/* Those of a list of absolute paths, separated by colons, that are there and
 * may be trusted, which is checked now; one that may not is a warning. `flags`
 * is JG_FILE_GROUP or 0. Returns false if out of memory. */
bool jg_layers_open(const char *list, unsigned flags, const struct jg_log *log,
                    struct jg_layers *layers);
void jg_layers_close(struct jg_layers *layers);

/* As jg_cache_get() of cache.h. A bad entry is passed over, with one warning
 * a layer. Any number of threads. */
bool jg_layers_find(const struct jg_layers *layers, const struct jg_key *key,
                    struct jg_entry *entry, void **file,
                    const struct jg_log *log);

/* Calls for every good entry, some of which more than once. */
void jg_layers_each(const struct jg_layers *layers, jg_stock_visit *visit,
                    void *user);

/* Whether two are the same folders in the same order. */
bool jg_layers_equal(const struct jg_layers *a, const struct jg_layers *b);

#endif
