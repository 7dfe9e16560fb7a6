/* SPDX-License-Identifier: MIT */
/* A key's blob tells all fields apart and gives them back. Its name follows
 * from it. */
#define _POSIX_C_SOURCE 200809L /* strndup */
#include "key.h"

#include <stdint.h>
#include <stdlib.h>

#include "sample.h"
#include "test.h"

enum { FIELDS = sizeof(struct jg_key_fields) / sizeof(char *) };

static struct jg_key make(const char *const values[FIELDS])
{
    struct jg_key key = {.blob = {.data = NULL}};
    struct jg_key_fields fields;

    memcpy(&fields, values, sizeof fields);
    CHECK_INT(jg_key_make(&fields, &key), JITGEMM_OK);
    return key;
}

static int same(const struct jg_key *a, const struct jg_key *b)
{
    int blobs = a->blob.size == b->blob.size &&
                !memcmp(a->blob.data, b->blob.data, a->blob.size);

    CHECK_INT(strcmp(a->name, b->name) == 0, blobs);
    return blobs;
}

static void test_each_field(void)
{
    const char *values[FIELDS];
    struct jg_key base, other;

    memcpy(values, &sample_fields, sizeof values);
    base = make(values);
    for (int i = 0; i < FIELDS; i++) {
        static const char *const changes[] = {"", "x", "sm_90", "a\nb"};
        const char *value = values[i];
        char copy[100];

        for (int j = 0; j < 4; j++) {
            values[i] = changes[j];
            other = make(values);
            CHECK(!same(&base, &other));
            jg_key_free(&other);
        }
        snprintf(copy, sizeof copy, "%s", value); /* equal, elsewhere */
        values[i] = copy;
        other = make(values);
        CHECK(same(&base, &other));
        jg_key_free(&other);
        values[i] = value;
    }
    jg_key_free(&base);
}

/* Bytes that move from any field to any other make another key. */
static void test_moves(void)
{
    static const char *const left[] = {"", "a", "ab", "abc"};
    static const char *const right[] = {"abc", "bc", "c", ""};
    struct jg_key keys[4];

    for (int from = 0; from < FIELDS * FIELDS; from++) {
        const char *values[FIELDS] = {"", "", "", "", "", "", "", "", ""};
        int i = from / FIELDS, j = from % FIELDS;

        for (int k = 0; i != j && k < 4; k++) {
            values[i] = left[k];
            values[j] = right[k];
            keys[k] = make(values);
            for (int before = 0; before < k; before++)
                CHECK(!same(&keys[k], &keys[before]));
        }
        for (int k = 0; i != j && k < 4; k++)
            jg_key_free(&keys[k]);
    }
}

static uint64_t number(const unsigned char *bytes, int count)
{
    uint64_t value = 0;

    while (count--)
        value = value << 8 | bytes[count];
    return value;
}

/* The blob is as key.h has it: schema, then the fields by name. */
static void test_format(void)
{
    const char *const order[FIELDS] = {
        sample_fields.arch,   sample_fields.builtins_id, sample_fields.kernel,
        sample_fields.nvrtc,  sample_fields.nvrtc_id,    sample_fields.options,
        sample_fields.output, sample_fields.sources,     sample_fields.spec};
    struct jg_key key = {.blob = {.data = NULL}};
    const unsigned char *at;

    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    at = key.blob.data;
    CHECK_INT(number(at, 2), 1);
    at += 2;
    for (int i = 0; i < FIELDS; i++) {
        size_t size = strlen(order[i]);

        CHECK_INT(number(at, 2), i + 1);
        CHECK_INT(number(at + 2, 8), size);
        CHECK_INT(memcmp(at + 10, order[i], size), 0);
        at += 10 + size;
    }
    CHECK(at == key.blob.data + key.blob.size);
    /* Another name for the same fields would orphan every cache there is:
     * raise the schema instead. */
    CHECK_STR(key.name, "12b49f1df5556b8d3286d2e5f3767f80");
    jg_key_free(&key);
    CHECK(!key.blob.data && !key.name[0]);
}

/* Whatever reads is what jg_key_make() makes of what was read. */
static bool reads(const unsigned char *bytes, size_t size)
{
    struct jg_span values[JG_KEY_FIELD_COUNT];
    unsigned char *copy = malloc(size + !size); /* of exactly this size */
    char *texts[JG_KEY_FIELD_COUNT] = {NULL};
    bool good;

    memcpy(copy, bytes, size);
    good = jg_key_read((struct jg_span){copy, size}, values);
    for (int i = 0; good && i < JG_KEY_FIELD_COUNT; i++)
        texts[i] = strndup(values[i].data, values[i].size);
    if (good) {
        struct jg_key_fields fields = {
#define VALUE(name) .name = texts[JG_KEY_##name],
            JG_KEY_FIELDS(VALUE)
        };
        struct jg_key again;

        CHECK_INT(jg_key_make(&fields, &again), JITGEMM_OK);
        CHECK(again.blob.size == size && !memcmp(again.blob.data, copy, size));
        jg_key_free(&again);
    }
    for (int i = 0; i < JG_KEY_FIELD_COUNT; i++)
        free(texts[i]);
    free(copy);
    return good;
}

static void test_read(void)
{
    const char *const order[] = {
        "arch",    "builtins_id", "kernel",  "nvrtc", "nvrtc_id",
        "options", "output",      "sources", "spec"};
    struct jg_key key = {.blob = {.data = NULL}}, copy;
    struct jg_buf *blob = &key.blob;

    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    CHECK(reads(blob->data, blob->size));
    CHECK_INT(JG_KEY_FIELD_COUNT, FIELDS);
    for (int i = 0; i < FIELDS; i++)
        CHECK_STR(jg_key_field_names[i], order[i]);
    CHECK_INT(jg_key_copy((struct jg_span){blob->data, blob->size}, &copy),
              JITGEMM_OK);
    CHECK(same(&key, &copy));
    jg_key_free(&copy);
    for (size_t i = 0; i < blob->size; i++) {
        CHECK(!reads(blob->data, i));
        for (int change = 1; change < 256; change++) {
            blob->data[i] ^= (unsigned char)change;
            reads(blob->data, blob->size);
            blob->data[i] ^= (unsigned char)change;
        }
    }
    blob->data[12] = 0; /* in the first value */
    CHECK(!reads(blob->data, blob->size));
    jg_buf_add(blob, "", 1);
    CHECK(!reads(blob->data, blob->size));
    jg_key_free(&key);
}

int main(void)
{
    char hex[JG_KEY_NAME_LENGTH + 1];

    /* xxHash 0.8's own values, from `xxhsum -H2`. */
    jg_key_digest("", 0, hex);
    CHECK_STR(hex, "99aa06d3014798d86001c324468d497f");
    jg_key_digest("abc", 3, hex);
    CHECK_STR(hex, "06b05ab6733a618578af5f94892f3950");
    test_each_field();
    test_moves();
    test_format();
    test_read();
    return test_end();
}
