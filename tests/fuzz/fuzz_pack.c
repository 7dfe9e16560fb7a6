/* SPDX-License-Identifier: MIT */
/* Packs: one whose entries can all be read is what jg_pack_encode() makes of
 * them, and what is found is of the key that was asked for. */
#define _GNU_SOURCE /* mkdtemp, nftw */
#include "fuzz.h"

#include "one_pack.h"
#include "seal.h"

unsigned long fuzz_accepted;

enum { HEADER = 16, ROW = 72, NAME = 32, MOST = 64 };

static uint64_t number(const unsigned char *bytes, int count)
{
    uint64_t value = 0;

    while (count--)
        value = value << 8 | bytes[count];
    return value;
}

/* Makes right the checksums of as many entries as there are, theirs in the
 * rows, and that of the index. */
static void seal_pack(unsigned char *bytes, size_t size)
{
    uint64_t count = size < HEADER ? MOST : number(bytes + 12, 4);
    size_t index = HEADER + (size_t)count * ROW, at = index + JG_SHA256_SIZE;

    if (count >= MOST || at > size)
        return;
    for (unsigned char *row = bytes + HEADER; row < bytes + index;
         row += ROW) {
        uint64_t entry = number(row + NAME, 8);

        if (entry > size - at)
            break;
        seal_entry(bytes + at, (size_t)entry);
        jg_sha256(bytes + at, (size_t)entry, row + NAME + 8);
        at += (size_t)entry;
    }
    jg_sha256(bytes, index, bytes + index);
}

/* Reads all; whether each could be, and then encodes to these bytes. */
static void read_all(const struct jg_pack *pack, struct jg_span whole)
{
    size_t count = jg_pack_count(pack), good = 0;
    struct jg_packed *entries = calloc(count + 1, sizeof *entries);
    struct jg_buf again = {.data = NULL};
    const char *why;

    FUZZ_CHECK(entries);
    while (good < count &&
           jg_pack_read(pack, good, &entries[good].file, &why)) {
        memcpy(entries[good].name, jg_pack_name(pack, good),
               sizeof entries[good].name);
        good++;
    }
    if (good == count) {
        fuzz_accepted++;
        jg_pack_encode(entries, count, &again);
        FUZZ_CHECK(!again.failed);
        FUZZ_CHECK(
            same_span((struct jg_span){again.data, again.size}, whole));
    }
    jg_buf_free(&again);
    while (good)
        free((void *)entries[--good].file.data);
    free(entries);
}

static void find_all(const struct jg_pack *pack)
{
    for (int i = 0; i < ENTRIES; i++) {
        struct jg_entry entry;
        const char *why;
        void *file;

        if (!jg_pack_find(pack, &keys[i], &entry, &file, &why))
            continue;
        FUZZ_CHECK(same_span(entry.key, (struct jg_span){keys[i].blob.data,
                                                         keys[i].blob.size}));
        free(file);
    }
}

static void try(struct jg_span bytes)
{
    static int file = -1;
    struct jg_pack *pack;
    const char *why = NULL;

    if (file < 0) {
        one_pack_begin();
        atexit(one_pack_end);
        file = openat(top, "p.jgp", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    FUZZ_CHECK(ftruncate(file, 0) == 0);
    FUZZ_CHECK(pwrite(file, bytes.data, bytes.size, 0) ==
               (ssize_t)bytes.size);
    if (jg_pack_open(top, "p.jgp", 0, &pack, &why) != 0) {
        FUZZ_CHECK(why && *why);
        return;
    }
    read_all(pack, bytes);
    find_all(pack);
    jg_pack_close(pack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size + !size);

    FUZZ_CHECK(copy);
    memcpy(copy, data, size);
    try((struct jg_span){copy, size});
    seal_pack(copy, size);
    try((struct jg_span){copy, size});
    free(copy);
    return 0;
}

void fuzz_seeds(void (*use)(const struct jg_buf *seed))
{
    struct jg_buf bytes;

    try((struct jg_span){"", 0}); /* makes the entries */
    for (size_t count = 0; count <= ENTRIES; count++) {
        bytes = encode(count);
        use(&bytes);
        jg_buf_free(&bytes);
    }
}
