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

jitgemm_status jg_key_make(const struct jg_key_fields *fields,
                           struct jg_key *key)
{
    const char *const values[] = {
        fields->arch,   fields->builtins_id, fields->kernel,
        fields->nvrtc,  fields->nvrtc_id,    fields->options,
        fields->output, fields->sources,     fields->spec,
    };
    struct jg_key made = {.blob = {.data = NULL}};

    _Static_assert(sizeof values == sizeof *fields, "a field is not encoded");
    add_number(&made.blob, SCHEMA, 2);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        add_number(&made.blob, i + 1, 2);
        add_number(&made.blob, strlen(values[i]), 8);
        jg_buf_add(&made.blob, values[i], strlen(values[i]));
    }
    if (made.blob.failed) {
        jg_buf_free(&made.blob);
        return jg_fail(JITGEMM_E_MEMORY, "out of memory for a kernel's key");
    }
    jg_key_digest(made.blob.data, made.blob.size, made.name);
    *key = made;
    return JITGEMM_OK;
}

void jg_key_free(struct jg_key *key)
{
    jg_buf_free(&key->blob);
    memset(key, 0, sizeof *key);
}
