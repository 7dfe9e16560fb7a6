/* SPDX-License-Identifier: MIT */
/* Entries listed and copied between cache directories and packs. */
#define _GNU_SOURCE /* nftw */
#include "some_cache.h"

static char *all, *p, *q; /* paths */

/* What the last call told of: a letter an entry, g for GOOD, b for BAD, in
 * the order of the calls; a good one is as it was made. */
static char told[16];

static void tell(void *user, const jitgemm_entry *entry)
{
    int index = 0;

    CHECK(user == told);
    CHECK_INT(entry->size, sizeof *entry);
    while (index < ENTRIES && strcmp(keys[index].name, entry->key) != 0)
        index++;
    told[strlen(told) + 1] = 0;
    told[strlen(told)] = entry->state == JITGEMM_ENTRY_GOOD ? 'g' : 'b';
    CHECK_INT(!*entry->why, entry->state == JITGEMM_ENTRY_GOOD);
    if (entry->state == JITGEMM_ENTRY_BAD) {
        CHECK(!*entry->arch && !*entry->host && !entry->fields);
        return;
    }
    CHECK(index < ENTRIES);
    CHECK_STR(entry->arch, "sm_90a");
    CHECK_STR(entry->symbol, "gemm");
    CHECK_STR(entry->compiler, "NVRTC 13.0");
    CHECK_STR(entry->library, "0.1.0");
    CHECK_STR(entry->host, "somewhere");
    CHECK_INT(entry->bytes, files[index].size);
    CHECK_INT(entry->registers, 168);
    CHECK_INT(entry->spill_bytes, 8);
    CHECK_INT(entry->shared_bytes, 232448);
    CHECK_INT(entry->created, -2);
    CHECK(entry->compile_ms == 123.5);
    CHECK_INT(entry->field_count, JG_KEY_FIELD_COUNT);
    CHECK_STR(entry->fields[JG_KEY_nvrtc_id].name, "nvrtc_id");
    CHECK_STR(entry->fields[JG_KEY_nvrtc_id].value, "0123abcd");
}

/* The status, after checking what it told of. */
static jitgemm_status list(const char *path, const char *want)
{
    jitgemm_status status;

    told[0] = 0;
    status = jitgemm_cache_list(path, 0, tell, told);
    CHECK_STR(told, want);
    return status;
}

static jitgemm_status copy(const char *source, const char *other,
                           const char *target, const char *want)
{
    const char *sources[] = {source, other};
    jitgemm_status status;

    told[0] = 0;
    status = jitgemm_cache_copy(sources, other ? 2 : 1, target, tell, told);
    CHECK_STR(told, want);
    return status;
}

static int same_files(const char *a, const char *b)
{
    struct jg_span one, other;
    void *x = read_file(a, &one.size), *y = read_file(b, &other.size);
    int result;

    one.data = x;
    other.data = y;
    result = x && y && one.size && same_span(one, other);
    free(x);
    free(y);
    return result;
}

static void test_list(void)
{
    make_cache("all", 7);
    CHECK_INT(list(all, "ggg"), JITGEMM_OK);
    /* Not names of entries: passed over. */
    write_file(in_scratch("all/v1/e/x"), "", 0, 0600);
    make_folder(in_scratch("all/v1/e/zz"), 0700);
    make_folder(in_scratch("all/v1/e/abc"), 0700);
    write_file(in_scratch("all/v1/e/abc/abc.jgc"), "", 0, 0600);
    CHECK_INT(list(all, "ggg"), JITGEMM_OK);
    CHECK_INT(setenv("JITGEMM_CACHE_DIR", all, 1), 0);
    CHECK_INT(list(NULL, "ggg"), JITGEMM_OK);
    unsetenv("JITGEMM_CACHE_DIR");

    make_cache("bad", 7);
    CHECK(truncate(entry_path("bad", 0), 100) == 0);
    CHECK(chmod(entry_path("bad", 1), 0666) == 0);
    CHECK_INT(list(in_scratch("bad"), "bbg"), JITGEMM_OK);
    write_file(entry_path("bad", 2), files[1].data, files[1].size, 0600);
    CHECK(unlink(entry_path("bad", 0)) == 0);
    CHECK(symlink(entry_path("all", 0), entry_path("bad", 0)) == 0);
    CHECK_INT(list(in_scratch("bad"), "bbb"), JITGEMM_OK);
}

static void test_copy(void)
{
    unsigned char sha256[JG_SHA256_SIZE];
    char digest[65], text[65];
    size_t size;
    void *bytes;

    CHECK_INT(copy(all, NULL, p, "ggg"), JITGEMM_OK); /* export */
    CHECK_INT(mode_of(p) & 0777, 0644);
    CHECK_INT(list(p, "ggg"), JITGEMM_OK);
    CHECK_INT(jitgemm_pack_digest(p, digest), JITGEMM_OK);
    CHECK_INT(copy(p, NULL, in_scratch("new"), "ggg"), JITGEMM_OK);
    for (int i = 0; i < ENTRIES; i++)
        CHECK(same_files(entry_path("all", i), entry_path("new", i)));
    CHECK_INT(copy(in_scratch("new"), NULL, q, "ggg"), JITGEMM_OK);
    CHECK(same_files(p, q));

    make_cache("two", 6);
    make_cache("one", 1);
    CHECK_INT(copy(in_scratch("two"), NULL, q, "gg"), JITGEMM_OK);
    CHECK_INT(jitgemm_pack_digest(q, text), JITGEMM_OK);
    CHECK(strcmp(digest, text) != 0);
    CHECK_INT(copy(q, in_scratch("one"), q, "ggg"), JITGEMM_OK); /* merge */
    CHECK(same_files(p, q));
    CHECK_INT(copy(p, q, q, "ggg"), JITGEMM_OK); /* all twice */
    CHECK(same_files(p, q));

    bytes = read_file(p, &size);
    jg_sha256(bytes, 16 + ENTRIES * 72, sha256); /* header and rows */
    jg_sha256_text(sha256, text);
    CHECK_STR(digest, text);
    free(bytes);
}

/* A bad entry is left out and the others come; a good one of the next source
 * takes its place. */
static void test_bad_entries(void)
{
    size_t size;
    char *bytes = read_file(p, &size);

    bytes[size - 1] ^= 1;
    write_file(q, bytes, size, 0600);
    CHECK_INT(list(q, "ggb"), JITGEMM_OK);
    CHECK_INT(copy(q, NULL, in_scratch("some"), "ggb"), JITGEMM_OK);
    CHECK_INT(list(in_scratch("some"), "gg"), JITGEMM_OK);
    CHECK_INT(copy(q, p, in_scratch("m.jgp"), "ggbg"), JITGEMM_OK);
    CHECK(same_files(p, in_scratch("m.jgp")));
    free(bytes);
}

static void expect(jitgemm_status got, jitgemm_status want, const char *text)
{
    CHECK_INT(got, want);
    if (!strstr(jitgemm_last_error()->text, text))
        CHECK_STR(jitgemm_last_error()->text, text);
}

static void test_errors(void)
{
    const char *const sources[] = {p};
    char digest[65], shard[20];

    expect(list(in_scratch("none"), ""), JITGEMM_E_NOT_FOUND, "No such");
    expect(list(in_scratch("no.jgp"), ""), JITGEMM_E_NOT_FOUND, "No such");
    expect(list("relative", ""), JITGEMM_E_CACHE, "Invalid");
    expect(list("", ""), JITGEMM_E_CACHE, "no cache directory");
    CHECK(chmod(in_scratch("two"), 0777) == 0);
    snprintf(shard, sizeof shard, "one/v1/e/%.2s", keys[0].name);
    CHECK(chmod(in_scratch(shard), 0777) == 0);
    expect(list(in_scratch("one"), ""), JITGEMM_E_CACHE, "wrong owner");
    expect(list(in_scratch("two"), ""), JITGEMM_E_CACHE, "wrong owner");
    CHECK(chmod(p, 0666) == 0);
    expect(list(p, ""), JITGEMM_E_CACHE, "wrong owner");
    expect(jitgemm_pack_digest(p, digest), JITGEMM_E_CACHE, "wrong owner");
    CHECK(chmod(p, 0644) == 0);
    expect(copy(p, in_scratch("none"), in_scratch("n.jgp"), "ggg"),
           JITGEMM_E_NOT_FOUND, "No such");
    CHECK(!exists(in_scratch("n.jgp")));
    expect(copy(p, NULL, in_scratch("none/n.jgp"), "ggg"), JITGEMM_E_CACHE,
           "No such");
    expect(copy(p, NULL, in_scratch("p.jgp/x"), ""), JITGEMM_E_CACHE, "Not a");
    make_folder(in_scratch("d.jgp"), 0700);
    expect(copy(p, NULL, in_scratch("d.jgp"), "ggg"), JITGEMM_E_CACHE,
           "Is a directory");
    expect(jitgemm_pack_digest(all, digest), JITGEMM_E_CACHE, "not a regular");
    expect(jitgemm_cache_list(p, 2, tell, told), JITGEMM_E_ARGUMENT, "flags");
    expect(jitgemm_cache_list(p, 0, NULL, told), JITGEMM_E_ARGUMENT, "entry");
    expect(jitgemm_cache_copy(NULL, 1, p, tell, told), JITGEMM_E_ARGUMENT,
           "sources");
    expect(jitgemm_pack_digest(NULL, digest), JITGEMM_E_ARGUMENT, "path");
    expect(jitgemm_pack_digest(p, NULL), JITGEMM_E_ARGUMENT, "digest");
    CHECK_INT(jitgemm_cache_copy(sources, 1, in_scratch("c.jgp"), NULL, NULL),
              JITGEMM_OK); /* nobody to tell */
    CHECK(same_files(p, in_scratch("c.jgp")));
}

int main(void)
{
    scratch_begin();
    all = strdup(in_scratch("all"));
    p = strdup(in_scratch("p.jgp"));
    q = strdup(in_scratch("q.jgp"));
    some_entries_begin();
    test_list();
    test_copy();
    test_bad_entries();
    test_errors();
    some_entries_end();
    free(all);
    free(p);
    free(q);
    scratch_end();
    return test_end();
}
