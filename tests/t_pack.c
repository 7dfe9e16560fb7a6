/* SPDX-License-Identifier: MIT */
/* A pack gives back what was put in. With any bit changed, cut anywhere, or
 * changed while open, it gives that or a miss with a reason. pread is replaced
 * here by one that fails when told to. */
#define _GNU_SOURCE /* nftw, syscall */
#undef _FORTIFY_SOURCE
#include "pack.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "file.h"
#include "scratch.h"
#include "some_entries.h"

enum { HEADER = 16, ROW = 72, SIZE = 32, INDEX = HEADER + ENTRIES * ROW };

static int top;
static struct { /* the next `times` calls fail, or read one byte or none */
    int times, error, end;
} fault;

ssize_t pread(int fd, void *data, size_t size, off_t start)
{
    if (fault.times > 0) {
        fault.times--;
        errno = fault.error;
        if (fault.error)
            return -1;
        size = fault.end ? 0 : 1;
    }
    return syscall(SYS_pread64, fd, data, size, start);
}

static struct jg_buf encode(size_t count)
{
    struct jg_buf bytes = {.data = NULL};

    jg_pack_encode(packed, count, &bytes);
    CHECK(!bytes.failed);
    return bytes;
}

/* The pack of these bytes, or NULL and why not. */
static struct jg_pack *open_bytes(const void *bytes, size_t size,
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
static unsigned found(const struct jg_pack *pack)
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
static unsigned verified(const struct jg_pack *pack)
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

/* What happens to the file once it is open. */
static void test_changes(void)
{
    struct jg_buf bytes = encode(ENTRIES);
    const char *why, *path = in_scratch("p.jgp");
    struct jg_pack *pack = open_bytes(bytes.data, bytes.size, &why);

    CHECK(unlink(path) == 0); /* or replaced by another */
    CHECK_INT(found(pack), 7);
    jg_pack_close(pack);
    pack = open_bytes(bytes.data, bytes.size, &why);
    CHECK(truncate(path, (off_t)bytes.size - 1) == 0);
    CHECK_INT(found(pack), 3);
    CHECK_INT(verified(pack), 3);
    CHECK(truncate(path, 0) == 0);
    CHECK_INT(found(pack), 0);
    CHECK(truncate(path, (off_t)bytes.size) == 0); /* zeros */
    CHECK_INT(found(pack), 0);
    CHECK_INT(verified(pack), 0);
    jg_pack_close(pack);
    jg_buf_free(&bytes);
}

static int open_error(const char *name, const char *text)
{
    struct jg_pack *pack = NULL;
    const char *why = NULL;
    int error = jg_pack_open(top, name, 0, &pack, &why);

    CHECK(!pack);
    CHECK_STR(why, text);
    return error;
}

static void test_trust(void)
{
    struct jg_buf bytes = encode(1);
    const char *untrusted = jg_file_text(JG_FILE_UNTRUSTED);
    const char *kind = jg_file_text(JG_FILE_WRONG_KIND);

    CHECK_INT(open_error("none.jgp", strerror(ENOENT)), ENOENT);
    write_file(in_scratch("open.jgp"), bytes.data, bytes.size, 0666);
    CHECK_INT(open_error("open.jgp", untrusted), JG_FILE_UNTRUSTED);
    CHECK(symlink("p.jgp", in_scratch("link.jgp")) == 0);
    CHECK_INT(open_error("link.jgp", kind), JG_FILE_WRONG_KIND);
    CHECK(mkfifo(in_scratch("fifo.jgp"), 0600) == 0);
    CHECK_INT(open_error("fifo.jgp", kind), JG_FILE_WRONG_KIND);
    make_folder(in_scratch("folder.jgp"), 0700);
    CHECK_INT(open_error("folder.jgp", kind), JG_FILE_WRONG_KIND);
    jg_buf_free(&bytes);
}

static void test_faults(void)
{
    struct jg_buf bytes = encode(ENTRIES);
    const char *why;
    struct jg_pack *pack = open_bytes(bytes.data, bytes.size, &why);

    fault.times = 20; /* a byte at a time */
    CHECK_INT(found(pack), 7);
    fault.times = 5;
    fault.error = EINTR;
    CHECK_INT(found(pack), 7);
    fault.times = 1;
    fault.error = EIO;
    CHECK_INT(found(pack), 6);
    for (int good = 0; good < 2; good++) {
        fault.times = 1;
        fault.error = good ? 0 : EIO;
        fault.end = good;
        CHECK(open_error("p.jgp", good ? jg_file_text(JG_FILE_WRONG_SIZE)
                                       : strerror(EIO)));
    }
    jg_pack_close(pack);
    jg_buf_free(&bytes);
}

int main(void)
{
    scratch_begin();
    top = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    some_entries_begin();
    test_round_trip();
    test_damage();
    test_lies();
    test_wrong_entries();
    test_changes();
    test_trust();
    test_faults();
    some_entries_end();
    close(top);
    scratch_end();
    return test_end();
}
