/* SPDX-License-Identifier: MIT */
/* Measured choices: what reads is printed as the same bytes, its entries are
 * found, and putting them again changes nothing. */
#include "fuzz.h"

#include <string.h>

#include "tuning.h"

unsigned long fuzz_accepted;
static const struct jg_device device = {"sm_90a", JG_SM90, 132};

static void check(struct jg_tuning *tuning, struct jg_span file)
{
    struct jg_buf text = {.data = NULL};
    size_t count = tuning->count;

    FUZZ_CHECK(count <= JG_TUNING_ENTRIES);
    for (size_t i = 0; i < count; i++) {
        struct jg_tuning_entry entry = tuning->entries[i];

        FUZZ_CHECK(entry.ns > 0 && entry.ns <= JG_TUNING_NS);
        FUZZ_CHECK(entry.model_ns > 0 && entry.model_ns <= JG_TUNING_NS);
        FUZZ_CHECK(jg_tuning_find(tuning, entry.class) ==
                   &tuning->entries[i]);
        FUZZ_CHECK(jg_tuning_put(tuning, &entry));
        FUZZ_CHECK(tuning->count == count);
    }
    jg_tuning_print(tuning, &device, &text);
    FUZZ_CHECK(!text.failed && text.size == file.size);
    FUZZ_CHECK(memcmp(text.data, file.data, file.size) == 0);
    jg_buf_free(&text);
}

static void run(struct jg_span file)
{
    struct jg_tuning tuning = {.entries = NULL};
    int line = 0;

    if (!jg_tuning_read(file, &device, &tuning, &line)) {
        fuzz_accepted++;
        check(&tuning, file);
    }
    FUZZ_CHECK(line >= 1);
    jg_tuning_free(&tuning);
}

/* As it is, and behind the first line, as a checksum made right. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jg_tuning none = {.entries = NULL};
    struct jg_buf whole = {.data = NULL};

    run((struct jg_span){data, size});
    jg_tuning_print(&none, &device, &whole);
    jg_buf_add(&whole, data, size);
    FUZZ_CHECK(!whole.failed);
    run((struct jg_span){whole.data, whole.size});
    jg_buf_free(&whole);
    return 0;
}

void fuzz_seeds(void (*use)(const struct jg_buf *seed))
{
    static const char *const seeds[] = {
        "jitgemm tuning 1 sm_90a 132\n",
        "jitgemm tuning 1 sm_90a 132\n"
        "256x4096x7168 rows 2048 longest 8 nvfp4 f16 device\t"
        "sm90_nvfp4 8x128x256, 4 stages, f16, 2 blocks\t1876540\t2000001\n"
        "8x4096x7168 rows 1024 longest 128 nvfp4 f16\t"
        "sm90_nvfp4 128x128x128, 5 stages, f16\t98765\t99999\n",
        "a\tk\t1\t1000000000000\nb\tk\t20\t3\nc\tk\t4\t5\n",
    };

    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct jg_buf bytes = {.data = NULL};

        jg_buf_add(&bytes, seeds[i], strlen(seeds[i]));
        use(&bytes);
        jg_buf_free(&bytes);
    }
}
