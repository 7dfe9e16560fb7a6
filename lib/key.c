/* SPDX-License-Identifier: MIT */
/* The blob and the name of a key. */
#include "key.h"

#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SCHEMA = 1 };

static void add_number(struct jg_buf *blob, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)(value >> (8 * i));

        jg_buf_add(blob, &byte, 1);
    }
}

void jg_key_digest(const void *bytes, size_t size,
                   char hex[JG_KEY_NAME_LENGTH + 1])
{
    static const char digits[] = "0123456789abcdef";
    XXH128_canonical_t digest;

    XXH128_canonicalFromHash(&digest, XXH3_128bits(bytes, size));
    for (size_t i = 0; i < sizeof digest.digest; i++) {
        hex[2 * i] = digits[digest.digest[i] >> 4];
        hex[2 * i + 1] = digits[digest.digest[i] & 15];
    }
    hex[JG_KEY_NAME_LENGTH] = 0;
}

static jitgemm_status encode(const struct jg_span values[JG_KEY_FIELD_COUNT],
                             struct jg_key *key)
{
    struct jg_key made = {.blob = {.data = NULL}};

    add_number(&made.blob, SCHEMA, 2);
    for (size_t i = 0; i < JG_KEY_FIELD_COUNT; i++) {
        add_number(&made.blob, i + 1, 2);
        add_number(&made.blob, values[i].size, 8);
        jg_buf_add(&made.blob, values[i].data, values[i].size);
    }
    if (made.blob.failed) {
        jg_buf_free(&made.blob);
        return jg_fail(JITGEMM_E_MEMORY, "out of memory for a kernel's key");
    }
    jg_key_digest(made.blob.data, made.blob.size, made.name);
    *key = made;
    return JITGEMM_OK;
}

jitgemm_status jg_key_make(const struct jg_key_fields *fields,
                           struct jg_key *key)
{
    const struct jg_span values[] = {
#define VALUE(name) {fields->name, strlen(fields->name)},
        JG_KEY_FIELDS(VALUE)
#undef VALUE
    };

    _Static_assert(sizeof *fields == JG_KEY_FIELD_COUNT * sizeof(char *),
                   "a field is not encoded");
    return encode(values, key);
}

jitgemm_status jg_key_copy(struct jg_span blob, struct jg_key *key)
{
    struct jg_key made = {.blob = {.data = NULL}};

    jg_buf_add(&made.blob, blob.data, blob.size);
    if (made.blob.failed)
        return jg_fail(JITGEMM_E_MEMORY, "out of memory for a kernel's key");
    jg_key_digest(blob.data, blob.size, made.name);
    *key = made;
    return JITGEMM_OK;
}

const char *const jg_key_field_names[JG_KEY_FIELD_COUNT] = {
#define NAME(name) #name,
    JG_KEY_FIELDS(NAME)
#undef NAME
};

/* Cuts a number off the blob's start; UINT64_MAX if it has not that much. */
static uint64_t take_number(struct jg_span *blob, unsigned bytes)
{
    const unsigned char *byte = blob->data;
    uint64_t value = 0;

    if (blob->size < bytes)
        return UINT64_MAX;
    for (unsigned i = bytes; i > 0; i--)
        value = value << 8 | byte[i - 1];
    blob->data = byte + bytes;
    blob->size -= bytes;
    return value;
}

bool jg_key_read(struct jg_span blob,
                 struct jg_span values[JG_KEY_FIELD_COUNT])
{
    struct jg_span read[JG_KEY_FIELD_COUNT];

    if (take_number(&blob, 2) != SCHEMA)
        return false;
    for (uint64_t i = 0; i < JG_KEY_FIELD_COUNT; i++) {
        uint64_t tag = take_number(&blob, 2), size = take_number(&blob, 8);

        if (tag != i + 1 || size > blob.size ||
            (size && memchr(blob.data, 0, (size_t)size)))
            return false;
        read[i] = (struct jg_span){blob.data, (size_t)size};
        blob.data = (const unsigned char *)blob.data + size;
        blob.size -= (size_t)size;
    }
    if (blob.size)
        return false;
    memcpy(values, read, sizeof read);
    return true;
}

static bool read_key(const struct jg_key *key,
                     struct jg_span values[JG_KEY_FIELD_COUNT])
{
    return jg_key_read((struct jg_span){key->blob.data, key->blob.size},
                       values);
}

bool jg_key_of_maker(const struct jg_key *key, const struct jg_key *maker,
                     struct jg_key *made)
{
    struct jg_span values[JG_KEY_FIELD_COUNT], others[JG_KEY_FIELD_COUNT];

    if (!read_key(key, values) || !read_key(maker, others))
        return false;
    values[JG_KEY_nvrtc] = others[JG_KEY_nvrtc];
    values[JG_KEY_nvrtc_id] = others[JG_KEY_nvrtc_id];
    values[JG_KEY_builtins_id] = others[JG_KEY_builtins_id];
    return encode(values, made) == JITGEMM_OK;
}

void jg_key_free(struct jg_key *key)
{
    jg_buf_free(&key->blob);
    memset(key, 0, sizeof *key);
}
