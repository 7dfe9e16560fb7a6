/* SPDX-License-Identifier: MIT */
/* The sample entry in and out of a cache, and warnings counted. */
#ifndef ONE_ENTRY_H
#define ONE_ENTRY_H

#include <stdatomic.h>
#include <stdlib.h>

#include "cache.h"
#include "sample.h"

static atomic_int warnings;

static inline void count_warning(void *user, int level, const char *line)
{
    (void)user;
    (void)line;
    warnings += level <= JITGEMM_LOG_WARNING;
}

static const struct jg_log counting = {count_warning, NULL, JITGEMM_LOG_DEBUG};
static struct jg_key key;

static inline bool put(const struct jg_cache *cache)
{
    struct jg_entry entry = sample_entry(&key);

    return jg_cache_put(cache, &key, &entry, &counting);
}

static inline bool get(const struct jg_cache *cache)
{
    struct jg_entry entry;
    void *file = NULL;
    bool hit = jg_cache_get(cache, &key, JITGEMM_SOURCE_NONE, &entry, &file,
                            &counting);

    free(file);
    return hit;
}

#endif
