/* SPDX-License-Identifier: MIT */
/* A pack gives back what was put in. With any bit changed, cut anywhere, or
 * with lies in the index, it gives that or a miss with a reason. */
#define _GNU_SOURCE /* nftw */
#include "one_pack.h"

enum { HEADER = 16, ROW = 72, SIZE = 32, INDEX = HEADER + ENTRIES * ROW };

static void test_round_trip(void)
{
    for (size_t count = 0; count <= ENTRIES; count++) {
        struct jg_buf bytes = encode(count), again = encode(count);
        unsigned char digest[JG_SHA256_SIZE];
        const char *why;
        struct jg_pack *pack = open_bytes(bytes.data, bytes.size, &why);

        CHECK(same_span((struct jg_span){bytes.data, bytes.size},
                        (struct jg_span){again.data, again.size}));
        CHECK_INT(jg_pack_count(pack), count);
        CHECK_INT(found(pack), (1 << count) - 1);
        CHECK_INT(verified(pack), (1 << count) - 1);
        jg_sha256(bytes.data, HEADER + count * ROW, digest);
        CHECK_INT(memcmp(digest, jg_pack_digest(pack), sizeof digest), 0);
        jg_pack_close(pack);
        jg_buf_free(&again);
        jg_buf_free(&bytes);
    }
    jg_pack_close(NULL);
}

/* A bit in the index spoils the pack, one in an entry that entry alone. */
static void test_damage(void)
{
    struct jg_buf bytes = encode(ENTRIES);
    unsigned all = (1 << ENTRIES) - 1;
    size_t end = INDEX + SIZE, flips = 0;
    const char *why;

    for (size_t i = 0, entry = 0; i < bytes.size; i++) {
        if (i == end + files[entry].size)
            end += files[entry++].size;
        for (int bit = 0; bit < 8; bit++, flips++) {
            struct jg_pack *pack;

            bytes.data[i] ^= (unsigned char)(1 << bit);
            pack = open_bytes(bytes.data, bytes.size, &why);
            CHECK_INT(!pack, i < INDEX + SIZE);
            if (pack) {
                CHECK_INT(found(pack), all & ~(1u << entry));
                CHECK_INT(verified(pack), all & ~(1u << entry));
            }
            jg_pack_close(pack);
            bytes.data[i] ^= (unsigned char)(1 << bit);
        }
        CHECK(!open_bytes(bytes.data, i, &why));
    }
    printf("%zu bytes: %zu bits flipped, cut at each\n", bytes.size, flips);
    jg_buf_add(&bytes, "", 1);
    CHECK(!open_bytes(bytes.data, bytes.size, &why));
    jg_buf_free(&bytes);
}

/* Puts a byte there, makes the digest right, and expects this reason. */
static void expect(size_t at, unsigned value, const char *want)
{
    struct jg_buf bytes = encode(ENTRIES);
    const char *why;
    struct jg_pack *pack;

    bytes.data[at] = (unsigned char)value;
    jg_sha256(bytes.data, INDEX, bytes.data + INDEX);
    pack = open_bytes(bytes.data, bytes.size, &why);
    CHECK_STR(why ? why : "none", want);
    jg_pack_close(pack);
    jg_buf_free(&bytes);
}

static void test_lies(void)
{
    static const char sizes[] = "sizes in the index do not add up";
    static const char names[] = "names in the index are wrong or not in order";
    static const char large[] = "an entry is too large";
    size_t row = HEADER + ROW;

    expect(0, 'J', "none");
    expect(0, 'j', "not a pack");
    expect(7, 1, "not a pack");
    expect(8, 2, "pack of an unknown format");
    expect(11, 1, "pack of an unknown format");
    expect(12, ENTRIES - 1, "index damaged: wrong SHA-256");
    expect(13, 1, "pack too short for its index");
    expect(14, 2, "too many entries");
    expect(15, 0xff, "too many entries");
    expect(row, 'g', names);
    expect(row + SIZE - 1, 'A', names);
    expect(row, 0, names);
    expect(row, (unsigned char)keys[0].name[0] - 1u, names); /* not after */
    expect(row + SIZE, (unsigned)(files[1].size + 1) & 0xff, sizes);
    expect(row + SIZE + 2, 1, sizes);
    expect(row + SIZE + 3, 4, large); /* 64 MiB and more */
    expect(row + SIZE + 7, 0xff, large);
    expect(row + ROW + SIZE + 2, 1, sizes);
}

/* Twice one name; the entry of another key under a key's name. */
static void test_wrong_entries(void)
{
    struct jg_packed saved = packed[1];
    struct jg_buf bytes;
    const char *why;
    struct jg_pack *pack;

    packed[1] = packed[0];
    bytes = encode(ENTRIES);
    CHECK(!open_bytes(bytes.data, bytes.size, &why));
    jg_buf_free(&bytes);
    memcpy(packed[1].name, saved.name, sizeof saved.name);
    bytes = encode(ENTRIES);
    pack = open_bytes(bytes.data, bytes.size, &why);
    CHECK_INT(found(pack), 5);
    jg_pack_close(pack);
    jg_buf_free(&bytes);
    packed[1] = saved;
    packed[1].file.size = JG_ENTRY_LIMIT + 1; /* is not read */
    jg_pack_encode(packed, 1, &bytes);
    CHECK(!bytes.failed);
    jg_buf_free(&bytes);
    packed[1] = saved;
}

int main(void)
{
    one_pack_begin();
    test_round_trip();
    test_damage();
    test_lies();
    test_wrong_entries();
    one_pack_end();
    return test_end();
}
