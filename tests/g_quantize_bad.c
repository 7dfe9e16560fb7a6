/* SPDX-License-Identifier: MIT */
/* Conversions of groups whose numbers in device memory are wrong: they are
 * left out and reported, the others are converted, and nothing else is
 * touched. On a GPU, and on the emulated device ("g_quantize_bad small"). */
#include <math.h>
#include <stdlib.h>

#include "conversion_case.h"
#include "gpu.h"
#include "test.h"

#define STACKED      JITGEMM_ROWS_STACKED
#define MASKED       JITGEMM_ROWS_MASKED
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define GROUPS       5

static jitgemm_context *context;
static const int32_t scale_rows[GROUPS] = {1280, 0, 640, 896, 256};

static void check(struct conversion_case *c, enum conversion_fill fill,
                  const char *name)
{
    CHECK_INT(conversion_case_test(context, c, fill, name), 0);
}

static const int32_t bad_offsets[][GROUPS + 1] = {
    {0, 7, 1000000000, 30, 200, 300}, {-1, 7, 9, 30, 200, 300},
    {0, 7, 5, 30, 200, 300},          {0, 7, 9, 30, 200, 301},
    {0, 7, 9, 30, 200, -2000000000},  {0, 300, 0, 300, 0, 300},
    {300, 200, 100, 50, 20, 0},       {0, 7, 9, -5, 200, 300},
    {5, 7, 9, 30, 200, 210},
};

static void test_bad_offsets(void)
{
    static const jitgemm_place places[] = {JITGEMM_PLACE_TIGHT,
                                           JITGEMM_PLACE_EXPLICIT};

    for (size_t i = 0; i < COUNT(bad_offsets); i++)
        for (size_t j = 0; j < 2 * COUNT(places); j++) {
            struct conversion_case c = {.options = conversion_options(
                                            j / 2 ? JITGEMM_F16 : JITGEMM_E4M3,
                                            STACKED, places[j % 2]),
                                        .groups = GROUPS,
                                        .k = 80,
                                        .max_rows = 300,
                                        .rows = bad_offsets[i]};

            if (j % 2) {
                c.scale_row = scale_rows;
                c.scale_rows = 1280 + 384;
            }
            check(&c, FILL_RANDOM, "bad offsets");
        }
}

/* The lowest of bad groups, of which a thread may see several. */
static void test_many_bad(void)
{
    static int32_t offsets[601];
    struct conversion_case c = {.options = conversion_options(
                                    JITGEMM_F16, STACKED, JITGEMM_PLACE_FLOOR),
                                .groups = 600,
                                .k = 16,
                                .max_rows = 600,
                                .rows = offsets};

    for (int32_t g = 0; g <= 600; g++)
        offsets[g] = g;
    offsets[6] = offsets[262] = offsets[518] = -7;
    check(&c, FILL_RANDOM, "many bad groups");
}

static void test_bad_counts(void)
{
    static const int32_t bad[][GROUPS] = {
        {3, -1, 2, 9, 20}, {3, 0, 21, 9, 20}, {2147483647, 1, 2, 3, 4}};
    static const int32_t bad_rows[][GROUPS] = {{0, 64, 256, 384, 512},
                                               {0, 128, -128, 384, 512},
                                               {0, 128, 256, 384, 640},
                                               {0, 128, 256, 384, 2147483520}};
    static const int32_t good[GROUPS] = {3, 2, 20, 9, 20};
    static const int32_t none[GROUPS] = {3, 0, 0, 9, 0};

    for (size_t i = 0; i < COUNT(bad) + 2 * COUNT(bad_rows); i++) {
        struct conversion_case c = {
            .options =
                conversion_options(JITGEMM_BF16, MASKED, JITGEMM_PLACE_FLOOR),
            .groups = GROUPS,
            .k = 80,
            .max_rows = 20,
            .rows = i < COUNT(bad) ? bad[i]
                    : i % 2        ? good
                                   : none};

        if (i >= COUNT(bad)) {
            c.options.place = JITGEMM_PLACE_EXPLICIT;
            c.scale_row = bad_rows[(i - COUNT(bad)) / 2];
            c.scale_rows = 640;
        }
        check(&c, FILL_RANDOM, "bad counts");
    }
}

/* Any numbers: nothing is touched that is not the conversion's, which memory
 * of just that size shows, and the fault is told. */
static void test_random_offsets(int times)
{
    uint64_t seed = 5;

    for (int i = 0; i < times; i++) {
        int32_t offsets[GROUPS + 1];
        struct conversion_case c = {
            .options = conversion_options(JITGEMM_F16, STACKED,
                                          (jitgemm_place)(i % 3)),
            .groups = GROUPS,
            .k = 80,
            .max_rows = 300,
            .rows = offsets};
        jitgemm_conversion *conversion = conversion_of(context, &c);

        for (int g = 0; g <= GROUPS; g++)
            offsets[g] = i % 2 ? (int32_t)(ref_random(&seed) % 400) - 50
                               : (int32_t)ref_random(&seed);
        conversion_case_make(&c, FILL_RANDOM, ref_random(&seed));
        JITGEMM(jitgemm_conversion_run(conversion, &c.arguments, gpu.stream));
        gpu_sync();
        conversion_case_free(&c);
        jitgemm_conversion_destroy(conversion);
    }
}

/* The first fault stays; a multiplier that is none makes its group 0. */
static void test_rest(void)
{
    static const float odd[GROUPS] = {-1, (float)NAN, INFINITY, 0, 1e-40f};
    static const int32_t offsets[] = {0, 1, 128, 256, 385, 388};
    struct conversion_case c = {.options = conversion_options(
                                    JITGEMM_F16, STACKED, JITGEMM_PLACE_CEIL),
                                .groups = GROUPS,
                                .k = 80,
                                .rows = offsets,
                                .scale = odd};
    jitgemm_conversion *conversion;
    jitgemm_fault fault = {JITGEMM_FAULT_SCALE_ROW, 77, -5}, got;
    void *at;

    c.max_rows = offsets[GROUPS];
    check(&c, FILL_SPECIAL, "odd multipliers");

    c.rows = bad_offsets[0];
    conversion_case_make(&c, FILL_RANDOM, 1);
    at = c.arguments.fault;
    conversion = conversion_of(context, &c);
    GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)at, &fault, sizeof fault));
    GPU(cuCtxSynchronize());
    JITGEMM(jitgemm_conversion_run(conversion, &c.arguments, gpu.stream));
    gpu_sync();
    gpu_download(&got, at, sizeof got);
    CHECK(memcmp(&got, &fault, sizeof got) == 0);
    c.arguments.fault = NULL;
    JITGEMM(jitgemm_conversion_run(conversion, &c.arguments, gpu.stream));
    c.arguments.fault = at;
    conversion_case_free(&c);
    jitgemm_conversion_destroy(conversion);
}

int main(int count, char **arguments)
{
    bool small = count > 1 && strcmp(arguments[1], "small") == 0;

    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    test_bad_offsets();
    test_many_bad();
    test_bad_counts();
    test_random_offsets(small ? 10 : 100);
    test_rest();
    jitgemm_context_destroy(context);
    return test_end();
}
