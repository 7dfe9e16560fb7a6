/* SPDX-License-Identifier: MIT */
/* Keys: what reads is what jg_key_make() makes of the values. */
#define _POSIX_C_SOURCE 200809L /* strndup */
#include "fuzz.h"

#include <string.h>

#include "sample.h"

unsigned long fuzz_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jg_span values[JG_KEY_FIELD_COUNT];
    char *texts[JG_KEY_FIELD_COUNT];
    struct jg_key key;

    if (!jg_key_read((struct jg_span){data, size}, values))
        return 0;
    fuzz_accepted++;
    for (int i = 0; i < JG_KEY_FIELD_COUNT; i++)
        FUZZ_CHECK((texts[i] = strndup(values[i].data, values[i].size)));
    struct jg_key_fields fields = {
#define VALUE(name) .name = texts[JG_KEY_##name],
        JG_KEY_FIELDS(VALUE)
    };
    FUZZ_CHECK(!jg_key_make(&fields, &key));
    FUZZ_CHECK(key.blob.size == size && !memcmp(key.blob.data, data, size));
    jg_key_free(&key);
    for (int i = 0; i < JG_KEY_FIELD_COUNT; i++)
        free(texts[i]);
    return 0;
}

void fuzz_seeds(void (*use)(const struct jg_buf *seed))
{
    static const struct jg_key_fields empty = {"", "", "", "", "",
                                               "", "", "", ""};
    struct jg_key key;

    FUZZ_CHECK(!jg_key_make(&sample_fields, &key));
    use(&key.blob);
    jg_key_free(&key);
    FUZZ_CHECK(!jg_key_make(&empty, &key));
    use(&key.blob);
    jg_key_free(&key);
}
