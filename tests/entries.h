/* SPDX-License-Identifier: MIT */
/* Entries of some size under several keys, in caches in the scratch folder. */
#ifndef ENTRIES_H
#define ENTRIES_H

#include <time.h>

#include "one_entry.h"
#include "scratch.h"

enum { COUNT = 40, ENTRY_BYTES = 20 << 10 };

static struct jg_key keys[COUNT];
static unsigned char cubin[ENTRY_BYTES - 1024];

static inline struct jg_cache *open_cache(const char *name,
                                          const char *max_size)
{
    const struct jg_env env = {.cache_ro_path = ":",
                               .lock_timeout = "0",
                               .cache_max_size = max_size};

    warnings = 0;
    return jg_cache_open(in_scratch(name), &env, &counting);
}

static inline bool put_key(const struct jg_cache *cache, int i)
{
    struct jg_entry entry = sample_entry(&keys[i]);

    entry.cubin = (struct jg_span){cubin, sizeof cubin};
    return jg_cache_put(cache, &keys[i], &entry, &counting);
}

static inline bool get_key(const struct jg_cache *cache, int i)
{
    struct jg_entry entry;
    void *file = NULL;
    bool hit = jg_cache_get(cache, &keys[i], JITGEMM_SOURCE_NONE, &entry,
                            &file, &counting);

    free(file);
    return hit;
}

static inline const char *path_of(const char *folder, int i)
{
    char rest[100];

    snprintf(rest, sizeof rest, "%s/v1/e/%.2s/%s.jgc", folder, keys[i].name,
             keys[i].name);
    return in_scratch(rest);
}

static inline void set_age(const char *path, long long seconds)
{
    struct timespec times[2] = {{0, UTIME_OMIT}, {time(NULL) - seconds, 0}};

    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

static inline void make_keys(void)
{
    memcpy(cubin, sample_cubin, sizeof sample_cubin);
    for (int i = 0; i < COUNT; i++) {
        struct jg_key_fields fields = sample_fields;
        char spec[20];

        snprintf(spec, sizeof spec, "%d", i);
        fields.spec = spec;
        CHECK_INT(jg_key_make(&fields, &keys[i]), JITGEMM_OK);
    }
}

static inline void free_keys(void)
{
    for (int i = 0; i < COUNT; i++)
        jg_key_free(&keys[i]);
}

#endif
