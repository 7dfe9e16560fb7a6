/* SPDX-License-Identifier: MIT */
/* A pack in a scratch folder, and what is found in it. */
#ifndef ONE_PACK_H
#define ONE_PACK_H

#include "pack.h"
#include "scratch.h"
#include "some_entries.h"

static int top; /* the scratch folder */

static inline void one_pack_begin(void)
{
    scratch_begin();
    top = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    some_entries_begin();
}

static inline void one_pack_end(void)
{
    some_entries_end();
    close(top);
    scratch_end();
}

static inline struct jg_buf encode(size_t count)
{
    struct jg_buf bytes = {.data = NULL};

    jg_pack_encode(packed, count, &bytes);
    CHECK(!bytes.failed);
    return bytes;
}

/* The pack of these bytes, or NULL and why not. */
static inline struct jg_pack *open_bytes(const void *bytes, size_t size,
                                         const char **why)
{
    struct jg_pack *pack = NULL;
    int error;

    write_file(in_scratch("p.jgp"), bytes, size, 0600);
    *why = NULL;
    error = jg_pack_open(top, "p.jgp", 0, &pack, why);
    CHECK(!error == !!pack && !error == !*why);
    return pack;
}

/* Which entries are there as they were put in, a bit each. */
static inline unsigned found(const struct jg_pack *pack)
{
    unsigned all = 0;

    for (size_t i = 0; i < ENTRIES; i++) {
        struct jg_entry entry, want = sample_entry(&keys[i]);
        const char *why = "left alone";
        void *file = NULL;
        bool hit = jg_pack_find(pack, &keys[i], &entry, &file, &why);

        CHECK(hit == !!file && (!hit || same_entry(&entry, &want)));
        CHECK(hit || i >= jg_pack_count(pack) || (why && *why));
        all |= (unsigned)hit << i;
        free(file);
    }
    return all;
}

/* Likewise, by going through it. */
static inline unsigned verified(const struct jg_pack *pack)
{
    unsigned all = 0;

    for (size_t i = 0; i < jg_pack_count(pack); i++) {
        struct jg_span file = {.data = NULL};
        const char *why = NULL;
        bool good = jg_pack_read(pack, i, &file, &why);

        CHECK(good == !!file.data && good == !why);
        CHECK_STR(jg_pack_name(pack, i), keys[i].name);
        CHECK(!good || same_span(file, packed[i].file));
        all |= (unsigned)good << i;
        free((void *)file.data);
    }
    return all;
}

#endif
