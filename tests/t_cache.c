/* SPDX-License-Identifier: MIT */
/* What the cache holds: a put is a hit, everything else a miss. */
#define _GNU_SOURCE /* nftw */
#include <pthread.h>

#include "one_entry.h"
#include "scratch.h"

static struct jg_cache *cache;
static struct jg_key other_key;

static bool finds(const struct jg_key *wanted, const struct jg_entry *expected)
{
    struct jg_entry entry = {.sm = 0};
    void *file = NULL;
    bool hit = jg_cache_get(cache, wanted, JITGEMM_SOURCE_NONE, &entry, &file,
                            &counting);

    CHECK_INT(file != NULL, hit);
    if (hit && expected)
        CHECK(same_entry(&entry, expected));
    free(file);
    return hit;
}

static const char *path_of(const struct jg_key *of, const char *folder)
{
    char rest[100];

    if (strcmp(folder, "e") == 0)
        snprintf(rest, sizeof rest, "c/v1/e/%.2s/%s.jgc", of->name, of->name);
    else
        snprintf(rest, sizeof rest, "c/v1/%s/%s.jgc", folder, of->name);
    return in_scratch(rest);
}

static void test_put_get(const struct jg_entry *sample)
{
    struct jg_entry entry = *sample;

    CHECK(!finds(&key, NULL));
    CHECK(!exists(in_scratch("c"))); /* reading makes nothing */
    CHECK(jg_cache_put(cache, &key, sample, &counting));
    CHECK(finds(&key, sample));
    CHECK(!finds(&other_key, NULL));
    CHECK_INT(mode_of(in_scratch("c")), S_IFDIR | 0700);
    CHECK_INT(mode_of(in_scratch("c/v1/t")), S_IFDIR | 0700);
    CHECK_INT(mode_of(path_of(&key, "e")), S_IFREG | 0600);
    CHECK(exists(in_scratch("c/v1/CACHEDIR.TAG")));
    CHECK(!exists(in_scratch("c/v1/q")));
    CHECK_INT(count_files(in_scratch("c")), 3); /* entry, tag, lock */

    entry.registers = 1;
    CHECK(jg_cache_put(cache, &key, &entry, &counting));
    CHECK(finds(&key, &entry)); /* replaced */
    entry.key = (struct jg_span){"x", 1};
    CHECK(jg_cache_put(cache, &key, &entry, &counting));
    CHECK(finds(&key, NULL)); /* the key given counts, not the entry's */
    CHECK_INT(warnings, 0);

    entry.sm = 80;
    CHECK(!jg_cache_put(cache, &other_key, &entry, &counting));
    CHECK_INT(warnings, 1);
    CHECK(!exists(path_of(&other_key, "e")));
}

/* Writes the bytes as the key's entry; it must be a miss and set aside. */
static void expect_aside(const struct jg_key *of, const void *bytes,
                         size_t size)
{
    write_file(path_of(of, "e"), bytes, size, 0600);
    CHECK(!finds(of, NULL));
    CHECK(!exists(path_of(of, "e")));
    CHECK_INT(unlink(path_of(of, "q")), 0);
}

static void test_damage(const struct jg_entry *sample)
{
    struct jg_buf longer = {.data = NULL}, encoded = {.data = NULL};
    struct jg_entry entry = *sample;
    unsigned long long before = jg_cache_counts(cache).corrupt;
    unsigned char *bytes;
    size_t size;

    CHECK(jg_cache_put(cache, &key, sample, &counting));
    bytes = read_file(path_of(&key, "e"), &size);
    CHECK(size > 400);
    warnings = 0;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        expect_aside(&key, bytes, size);
        bytes[i] ^= 0x10;
        expect_aside(&key, bytes, i);
    }
    CHECK_INT(warnings, 1); /* a cause */
    CHECK_INT(jg_cache_counts(cache).corrupt - before, 2 * size);
    printf("damage: %zu bytes flipped, cut after each of them\n", size);
    write_file(path_of(&key, "e"), bytes, size, 0600);
    CHECK(finds(&key, sample));

    /* A good entry under the name of another key: what a hash collision
     * would look like. */
    CHECK(jg_cache_put(cache, &other_key, sample, &counting));
    expect_aside(&other_key, bytes, size);
    CHECK(finds(&key, sample));
    /* And one whose key is this one and a byte more. */
    jg_buf_add(&longer, key.blob.data, key.blob.size);
    jg_buf_add(&longer, "x", 1);
    entry.key = (struct jg_span){longer.data, longer.size};
    jg_entry_encode(&entry, &encoded);
    expect_aside(&key, encoded.data, encoded.size);
    jg_buf_free(&longer);
    jg_buf_free(&encoded);

    /* Bad once more, then replaced. */
    write_file(path_of(&key, "e"), bytes, size - 1, 0600);
    CHECK(!finds(&key, NULL));
    CHECK(jg_cache_put(cache, &key, sample, &counting));
    CHECK(finds(&key, sample));
    jg_cache_quarantine(cache, &key, &counting);
    CHECK(!finds(&key, NULL));
    CHECK(exists(path_of(&key, "q")));
    jg_cache_quarantine(cache, &key, &counting); /* nothing there */
    free(bytes);
}

enum { THREADS = 8, KEYS = 4, ROUNDS = 6 };

static struct jg_key keys[KEYS];

/* Whatever is found while others write must be a whole entry of that key. */
static void *put_and_get(void *number)
{
    unsigned char cubin[4096] = {0};
    struct jg_entry entry, read;
    long bad = 0;
    void *file;

    memcpy(cubin, sample_cubin, sizeof sample_cubin);
    memset(cubin + 64, *(int *)number, sizeof cubin - 64);
    for (int i = 0; i < ROUNDS * KEYS; i++) {
        const struct jg_key *one = &keys[(i + *(int *)number) % KEYS];

        entry = sample_entry(one);
        entry.cubin = (struct jg_span){cubin, sizeof cubin - (size_t)i};
        bad += !jg_cache_put(cache, one, &entry, &counting);
        for (int j = 0; j < 4; j++) {
            file = NULL;
            bad += !jg_cache_get(cache, one, JITGEMM_SOURCE_NONE, &read, &file,
                                 &counting);
            bad += !file || !same_span(read.key, entry.key);
            free(file);
        }
    }
    return (void *)bad;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    void *bad;

    scratch_clear(in_scratch("c"));
    warnings = 0;
    for (int i = 0; i < KEYS; i++) {
        struct jg_key_fields fields = sample_fields;

        fields.spec = &"abcdefgh"[i];
        CHECK_INT(jg_key_make(&fields, &keys[i]), JITGEMM_OK);
    }
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK_INT(pthread_create(&threads[i], NULL, put_and_get, &numbers[i]),
                  0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_join(threads[i], &bad), 0);
        CHECK_INT((long)bad, 0);
    }
    CHECK_INT(warnings, 0);
    CHECK_INT(count_files(in_scratch("c")), KEYS + 1);
    CHECK_INT(count_files(in_scratch("c/v1/t")), 0);
    for (int i = 0; i < KEYS; i++)
        jg_key_free(&keys[i]);
}

int main(void)
{
    const struct jg_env env = {.untrusted = false};
    struct jg_key_fields fields = sample_fields;
    struct jg_entry sample;

    scratch_begin();
    CHECK_INT(jg_key_make(&fields, &key), JITGEMM_OK);
    fields.spec = "constexpr int block_m = 129;\n"; /* of equal size */
    CHECK_INT(jg_key_make(&fields, &other_key), JITGEMM_OK);
    sample = sample_entry(&key);
    cache = jg_cache_open(in_scratch("c"), &env, &counting);
    CHECK_STR(jg_cache_directory(cache), in_scratch("c/v1"));
    test_put_get(&sample);
    test_damage(&sample);
    /* Removed under the running process: filled anew. */
    scratch_clear(in_scratch("c"));
    CHECK(!finds(&key, NULL));
    CHECK(jg_cache_put(cache, &key, &sample, &counting));
    CHECK(finds(&key, &sample));
    test_threads();
    jg_cache_close(cache);
    jg_cache_close(NULL);
    jg_key_free(&key);
    jg_key_free(&other_key);
    scratch_end();
    return test_end();
}
