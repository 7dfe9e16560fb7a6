/* SPDX-License-Identifier: MIT */
/* A key's blob tells all fields apart, and its name follows. */
#include "key.h"

#include <stdint.h>

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
    return test_end();
}
