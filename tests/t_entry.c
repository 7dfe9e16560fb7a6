/* SPDX-License-Identifier: MIT */
/* An entry survives the round trip, and nothing else decodes: not with one
 * bit changed, not a byte shorter, and not a lie under a right checksum. */
#include "entry.h"

#include <stdlib.h>

#include "sample.h"
#include "test.h"

/* Where things are in the file. */
enum { META_SIZE = 16, PAYLOAD_SIZE = 24, CREATED = 32, KEY = 40 };

static struct jg_buf encode(const struct jg_entry *entry)
{
    struct jg_buf bytes = {.data = NULL};

    jg_entry_encode(entry, &bytes);
    CHECK(!bytes.failed);
    return bytes;
}

/* Decodes a copy of exactly that size, so that a sanitizer sees a byte too
 * many being read. Returns why not, or NULL. */
static const char *refused(const void *bytes, size_t size)
{
    struct jg_entry entry, before;
    struct jg_buf again = {.data = NULL};
    const char *why = NULL;
    void *copy = malloc(size + !size);

    memcpy(copy, bytes, size);
    memset(&entry, 0xa5, sizeof entry);
    before = entry;
    if (jg_entry_decode((struct jg_span){copy, size}, &entry, &why)) {
        why = NULL;
        jg_entry_encode(&entry, &again);
        if (again.size == size) /* no tag was skipped */
            CHECK_INT(memcmp(again.data, bytes, size), 0);
    } else {
        CHECK(why && *why);
        CHECK_INT(memcmp(&entry, &before, sizeof entry), 0);
    }
    jg_buf_free(&again);
    free(copy);
    return why;
}

/* Makes the checksum right. */
static void seal(struct jg_buf *bytes)
{
    char hex[JG_KEY_NAME_LENGTH + 1];
    unsigned char *sum = bytes->data + bytes->size - 16;

    jg_key_digest(bytes->data, bytes->size - 16, hex);
    for (int i = 0; i < 16; i++)
        CHECK_INT(sscanf(hex + 2 * i, "%2hhx", &sum[i]), 1);
}

static void test_round_trip(const struct jg_entry *entry)
{
    struct jg_buf bytes = {.data = NULL};
    struct jg_entry read;
    const char *why = NULL;

    jg_buf_add(&bytes, "before", 6);
    jg_entry_encode(entry, &bytes);
    CHECK_INT(memcmp(bytes.data, "beforeJGCUBIN\0\1\0\0\0", 18), 0);
    CHECK(jg_entry_decode((struct jg_span){bytes.data + 6, bytes.size - 6},
                          &read, &why));
    CHECK(same_entry(&read, entry));
    CHECK_INT(((const unsigned char *)read.cubin.data - bytes.data - 6) % 16,
              0);
    jg_buf_free(&bytes);
}

static void test_damage(const struct jg_entry *entry)
{
    struct jg_buf bytes = encode(entry);

    CHECK(!refused(bytes.data, bytes.size));
    for (size_t i = 0; i < bytes.size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes.data[i] ^= (unsigned char)(1 << bit);
            CHECK(refused(bytes.data, bytes.size));
            bytes.data[i] ^= (unsigned char)(1 << bit);
        }
        CHECK(refused(bytes.data, i));
    }
    jg_buf_add(&bytes, "", 1);
    CHECK(refused(bytes.data, bytes.size));
    jg_buf_free(&bytes);
}

static void expect(struct jg_buf *bytes, const char *why)
{
    seal(bytes);
    CHECK_STR(refused(bytes->data, bytes->size), why);
}

/* Under a right checksum: no change of the header before `created` passes,
 * and whatever still decodes must encode to the same bytes. */
static void test_lies(const struct jg_entry *entry)
{
    struct jg_buf bytes = encode(entry);
    size_t meta = KEY + entry->key.size;
    size_t size = bytes.data[META_SIZE], after = meta + size;
    size_t end = bytes.size - 16 - sizeof sample_cubin; /* of the padding */

    for (size_t i = 0; i < bytes.size - 16; i++) {
        for (int change = 1; change < 256; change <<= 1) {
            bytes.data[i] ^= (unsigned char)change;
            seal(&bytes);
            CHECK(refused(bytes.data, bytes.size) || i >= CREATED);
            bytes.data[i] ^= (unsigned char)change;
        }
    }
    bytes.data[end - 1] = 1; /* padding */
    expect(&bytes, "lengths do not add up");
    bytes.data[end - 1] = 0;
    bytes.data[meta] = 2; /* the second tag twice, not the first */
    expect(&bytes, "bad metadata");
    bytes.data[meta] = 1;
    for (int change = -1; change <= 1; change += 2) {
        /* The last number, of 8 bytes, takes one from the padding or gives
         * it one. */
        unsigned char last = bytes.data[after - 1];

        bytes.data[after - 1] = change < 0 ? 0 : last;
        bytes.data[after - 12] = (unsigned char)(8 + change);
        bytes.data[META_SIZE] = (unsigned char)(size + (size_t)change);
        expect(&bytes, "bad metadata");
        bytes.data[after - 1] = last;
        bytes.data[after - 12] = 8;
        bytes.data[META_SIZE] = (unsigned char)size;
    }
    seal(&bytes);
    CHECK(!refused(bytes.data, bytes.size));
    jg_buf_add(&bytes, "0123456789abcdef", 16); /* more than the payload */
    expect(&bytes, "lengths do not add up");
    bytes.size = end + 16; /* none of the payload */
    expect(&bytes, "lengths do not add up");
    memset(bytes.data + PAYLOAD_SIZE, 0xff, 8);
    expect(&bytes, "lengths do not add up");
    jg_buf_free(&bytes);
}

/* A last tag that a later version might add is skipped; without the last tag
 * of this version the entry is none. */
static void test_tags(const struct jg_entry *entry)
{
    struct jg_buf bytes = encode(entry), other = {.data = NULL};
    size_t meta = KEY + entry->key.size;
    size_t size = bytes.data[META_SIZE];
    const struct {
        unsigned char tag, size;
        int change; /* of the size of the metadata */
        const char *why;
    } rows[] = {{99, 20, 26, NULL}, {7, 20, 26, "bad metadata"},
                {99, 200, 26, "bad metadata"}, {0, 0, -14, "bad metadata"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const unsigned char extra[26] = {rows[i].tag, 0, rows[i].size};
        size_t now = size + (size_t)rows[i].change;
        const char *why;

        jg_buf_add(&other, bytes.data, meta + (now < size ? now : size));
        jg_buf_add(&other, extra, now < size ? 0 : sizeof extra);
        while (other.size % 16)
            jg_buf_add(&other, "", 1);
        jg_buf_add(&other, bytes.data + bytes.size - 16 - sizeof sample_cubin,
                   16 + sizeof sample_cubin);
        other.data[META_SIZE] = (unsigned char)now;
        seal(&other);
        why = refused(other.data, other.size);
        CHECK_STR(why ? why : "none", rows[i].why ? rows[i].why : "none");
        jg_buf_free(&other);
    }
    jg_buf_free(&bytes);
}

static int good(const struct jg_entry *entry)
{
    struct jg_buf bytes = encode(entry);
    const char *why = refused(bytes.data, bytes.size);

    jg_buf_free(&bytes);
    return !why;
}

static void test_cubin(const struct jg_entry *sample)
{
    static const struct {
        unsigned at, value;
        const char *arch;
        uint32_t sm;
        int good;
    } rows[] = {
        {0, 0x7f, "sm_90a", 90, 1},  {0, 0x7f, "sm_90", 90, 1},
        {0, 0x7f, "sm_90f", 90, 1},  {0, 0x7f, "sm_90b", 90, 0},
        {0, 0x7f, "sm_90aa", 90, 0}, {0, 0x7f, "sm_9", 90, 0},
        {0, 0x7f, "sm_100a", 90, 0}, {0, 0x7f, "sm_090", 90, 0},
        {0, 0x7f, "sm_", 90, 0},     {0, 0x7f, "", 90, 0},
        {0, 0x7f, "SM_90", 90, 0},   {0, 0x7f, "sm_900", 90, 0},
        {0, 0x7f, "sm_89", 89, 0},   {0, 0x7f, "sm_90 ", 90, 0},
        {0, 0x7e, "sm_90a", 90, 0},  {3, 'G', "sm_90a", 90, 0},
        {4, 1, "sm_90a", 90, 0},     {5, 2, "sm_90a", 90, 0},
        {18, 62, "sm_90a", 90, 0},   {19, 1, "sm_90a", 90, 0},
        {49, 100, "sm_100a", 100, 1}, {49, 120, "sm_120f", 120, 1},
        {49, 100, "sm_90a", 90, 0},  {8, 7, "sm_90a", 90, 0},
        {8, 7, "sm_40", 4, 0},       {8, 9, "sm_90a", 90, 0},
        {48, 90, "sm_90a", 90, 1},   {49, 0, "sm_90a", 0, 0},
        {49, 0, "", 0, 0}};
    struct jg_entry entry = *sample;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char saved = sample_cubin[rows[i].at];

        sample_cubin[rows[i].at] = (unsigned char)rows[i].value;
        entry.arch = (struct jg_span){rows[i].arch, strlen(rows[i].arch)};
        entry.sm = rows[i].sm;
        /* Twice the row, and 1 if it is good. */
        CHECK_INT(2 * (int)i + good(&entry), 2 * (int)i + rows[i].good);
        sample_cubin[rows[i].at] = saved;
    }
    /* The layout of CUDA 12: the number in the lowest byte. */
    entry = *sample;
    sample_cubin[8] = 7;
    sample_cubin[48] = 90;
    sample_cubin[49] = 5;
    CHECK(good(&entry));
    entry.cubin.size = 63; /* an ELF header has 64 */
    CHECK(!good(&entry));
}

int main(void)
{
    struct jg_key key = {.blob = {.data = NULL}};
    struct jg_entry entry;

    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    entry = sample_entry(&key);
    test_round_trip(&entry);
    test_damage(&entry);
    test_lies(&entry);
    test_tags(&entry);
    test_cubin(&entry);
    jg_key_free(&key);
    return test_end();
}
