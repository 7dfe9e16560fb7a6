/* SPDX-License-Identifier: MIT */
/* Entries: what decodes encodes to something that decodes alike, and a caller
 * may see it. */
#include "fuzz.h"

#include "sample.h"
#include "seal.h"
#include "view.h"

unsigned long fuzz_accepted;

static void try(const unsigned char *data, size_t size)
{
    struct jg_entry entry, again;
    struct jg_buf bytes = {.data = NULL};
    struct jg_view view;
    const char *why = NULL;

    if (!jg_entry_decode((struct jg_span){data, size}, &entry, &why)) {
        FUZZ_CHECK(why && *why);
        return;
    }
    fuzz_accepted++;
    jg_entry_encode(&entry, &bytes);
    FUZZ_CHECK(!bytes.failed && bytes.size <= size);
    FUZZ_CHECK(jg_entry_decode((struct jg_span){bytes.data, bytes.size},
                               &again, &why));
    FUZZ_CHECK(same_entry(&entry, &again));
    FUZZ_CHECK(!jg_view_good("", &entry, size, &view));
    FUZZ_CHECK(strlen(view.entry.arch) == entry.arch.size);
    jg_view_free(&view);
    jg_buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size + !size);

    FUZZ_CHECK(copy);
    memcpy(copy, data, size);
    try(copy, size);
    seal_entry(copy, size);
    try(copy, size);
    free(copy);
    return 0;
}

void fuzz_seeds(void (*use)(const struct jg_buf *seed))
{
    struct jg_key key;
    struct jg_entry entry;
    struct jg_buf bytes = {.data = NULL};

    FUZZ_CHECK(!jg_key_make(&sample_fields, &key));
    entry = sample_entry(&key);
    jg_entry_encode(&entry, &bytes);
    use(&bytes);
    jg_buf_free(&bytes);
    entry.key.size = entry.symbol.size = entry.host.size = 0;
    jg_entry_encode(&entry, &bytes);
    use(&bytes);
    jg_buf_free(&bytes);
    jg_key_free(&key);
}
