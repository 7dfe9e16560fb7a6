/* SPDX-License-Identifier: MIT */
/* Cache directories with some entries, in a scratch folder. */
#ifndef SOME_CACHE_H
#define SOME_CACHE_H

#include "cache.h"
#include "scratch.h"
#include "some_entries.h"

static inline const char *entry_path(const char *base, int index)
{
    char rest[100];

    snprintf(rest, sizeof rest, "%s/v1/e/%.2s/%s.jgc", base, keys[index].name,
             keys[index].name);
    return in_scratch(rest);
}

/* A cache directory with the entries whose bits are set. */
static inline void make_cache(const char *name, unsigned which)
{
    struct jg_env env = {.untrusted = false};
    struct jg_cache *cache = jg_cache_open(in_scratch(name), &env, NULL);

    for (int i = 0; i < ENTRIES; i++) {
        struct jg_entry entry = sample_entry(&keys[i]);

        if (which & 1u << i)
            CHECK(jg_cache_put(cache, &keys[i], &entry, NULL));
    }
    jg_cache_close(cache);
}

#endif
