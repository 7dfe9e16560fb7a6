/* SPDX-License-Identifier: MIT */
/* A few entries that differ in one field of their keys, in the order of their
 * names, and the pack of them. */
#ifndef SOME_ENTRIES_H
#define SOME_ENTRIES_H

#include <stdlib.h>

#include "pack.h"
#include "sample.h"
#include "test.h"

enum { ENTRIES = 3 };

static struct jg_key keys[ENTRIES];
static struct jg_buf files[ENTRIES];
static struct jg_packed packed[ENTRIES];

static inline int compare_keys(const void *a, const void *b)
{
    const struct jg_key *one = a, *other = b;

    return strcmp(one->name, other->name);
}

static inline void some_entries_begin(void)
{
    static const char *const specs[ENTRIES] = {"one", "two", "three"};

    for (int i = 0; i < ENTRIES; i++) {
        struct jg_key_fields fields = sample_fields;

        fields.spec = specs[i];
        CHECK_INT(jg_key_make(&fields, &keys[i]), JITGEMM_OK);
    }
    qsort(keys, ENTRIES, sizeof *keys, compare_keys);
    for (int i = 0; i < ENTRIES; i++) {
        struct jg_entry entry = sample_entry(&keys[i]);

        jg_entry_encode(&entry, &files[i]);
        memcpy(packed[i].name, keys[i].name, sizeof packed[i].name);
        packed[i].file = (struct jg_span){files[i].data, files[i].size};
    }
}

static inline void some_entries_end(void)
{
    for (int i = 0; i < ENTRIES; i++) {
        jg_key_free(&keys[i]);
        jg_buf_free(&files[i]);
    }
}

#endif
