/* SPDX-License-Identifier: MIT */
/* What conversions do around the products of experts, byte by byte against the
 * reference: activations, gathered rows, sums of rows. On a GPU, and on the
 * emulated device ("g_moe small"). */
#include <stdlib.h>

#include "combine_case.h"
#include "conversion_case.h"
#include "gpu.h"
#include "test.h"

#define STACKED      JITGEMM_ROWS_STACKED
#define MASKED       JITGEMM_ROWS_MASKED
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define GROUPS       5

static jitgemm_context *context;
static bool small;

static const int32_t counts[][GROUPS] = {
    {1, 7, 128, 29, 3}, {0, 0, 5, 0, 131}, {0, 0, 0, 0, 0}};
static const float global_scales[GROUPS] = {1, 0.01f, 700, 2688, 3.3f};

static int64_t stack(const int32_t *rows, int32_t *offsets)
{
    offsets[0] = 0;
    for (int g = 0; g < GROUPS; g++)
        offsets[g + 1] = offsets[g] + rows[g];
    return offsets[GROUPS];
}

static void check(struct conversion_case *c, enum conversion_fill fill,
                  const char *name)
{
    CHECK_INT(conversion_case_test(context, c, fill, name), 0);
}

/* Gates and ups of every size, and what is no number. */
static void test_swiglu(void)
{
    for (size_t i = 0; i < (small ? 8 : 48); i++) {
        struct conversion_case c = {
            .options = conversion_options(
                i % 2 ? JITGEMM_BF16 : JITGEMM_F16,
                i / 4 % 2 ? STACKED : MASKED, (jitgemm_place)(i % 3)),
            .groups = GROUPS,
            .k = (int64_t[]){528, 80, 1040}[i % 3],
            .scale = i % 3 ? global_scales : NULL};
        int32_t offsets[GROUPS + 1];
        const int32_t *rows = counts[i % COUNT(counts)];
        int64_t all = stack(rows, offsets);

        c.options.activation = (jitgemm_activation)(1 + i / 2 % 4);
        if (i / 8 % 2) {
            c.options.scale_order = JITGEMM_SCALES_LINEAR;
            c.options.place = JITGEMM_PLACE_TIGHT;
        }
        c.rows = c.options.layout == STACKED ? offsets : rows;
        c.max_rows = c.options.layout == STACKED ? all : 300;
        c.ldx = i % 2 ? 2 * c.k + 8 : 0;
        check(&c, (enum conversion_fill)((1 + i + i / 3) % 3), "swiglu");
    }
}

/* Rows twice and not at all, and numbers that are of no row; those of no group
 * are not read. */
static void test_gather(void)
{
    for (size_t i = 0; i < (small ? 4 : 24); i++) {
        struct conversion_case c = {
            .options = conversion_options(
                i % 2 ? JITGEMM_BF16 : JITGEMM_F16,
                i / 2 % 2 ? STACKED : MASKED, (jitgemm_place)(i % 3)),
            .groups = GROUPS,
            .k = (int64_t[]){528, 80, 1040}[i % 3],
            .scale = global_scales,
            .x_rows = 37};
        int32_t offsets[GROUPS + 1], gather[GROUPS * 131];
        const int32_t *rows = counts[i % COUNT(counts)];
        int64_t all = stack(rows, offsets);
        uint64_t seed = i;

        c.options.flags = JITGEMM_GATHER;
        c.options.activation = (jitgemm_activation)(i % 5);
        c.rows = c.options.layout == STACKED ? offsets : rows;
        c.max_rows = c.options.layout == STACKED ? all : 131;
        for (size_t j = 0; j < COUNT(gather); j++)
            gather[j] = (int32_t)(ref_random(&seed) % 40) - 1;
        gather[0] = INT32_MAX;
        gather[1] = INT32_MIN;
        c.gather = gather;
        check(&c, (enum conversion_fill)((1 + i + i / 3) % 3), "gather");
    }
}

/* Offsets with gaps before and behind, empty groups, and bad ones among good
 * ones; the last has all rows in one group. */
static const int32_t cast_offsets[][GROUPS + 1] = {
    {0, 1, 8, 13, 13, 18},  {3, 3, 3, 9, 11, 11}, {0, 7, 5, 9, 30, 31},
    {-1, 7, 9, 12, 12, 14}, {0, 7, 9, -5, 14, 19}, {0, 0, 0, 0, 0, 0},
    {0, 4, 1000000, 9, 14, 14}, {0, 0, 0, 0, 0, 40}};

/* Rows that stay 16 bits, as copies, of another type, activated, gathered. k
 * is not a multiple of what a block does, and past it. */
static void test_cast(void)
{
    for (size_t i = 0; i < (small ? 24 : 160); i++) {
        struct conversion_case c = {
            .options = conversion_options(
                i % 2 ? JITGEMM_BF16 : JITGEMM_F16,
                i % 3 ? STACKED : MASKED, JITGEMM_PLACE_TIGHT),
            .groups = GROUPS,
            .k = (int64_t[]){16, 2080, 528, 4112, 8208}[i / 2 % 5]};
        int32_t gather[GROUPS * 131];
        uint64_t seed = i;

        c.options.flags = JITGEMM_CAST;
        c.options.sm_limit = i % 7 ? 0 : 3; /* blocks, of several rows each */
        c.options.c_type = i / 2 % 2 ? JITGEMM_BF16 : JITGEMM_F16;
        c.options.activation = (jitgemm_activation)(i % 5);
        c.rows = i % 3 ? cast_offsets[i / 3 % COUNT(cast_offsets)]
                       : counts[i % COUNT(counts)];
        c.max_rows = i % 3 ? 40 : 29;
        for (size_t j = 0; j < COUNT(gather); j++)
            gather[j] = (int32_t)(ref_random(&seed) % 40) - 1;
        gather[0] = INT32_MAX;
        gather[1] = INT32_MIN;
        if (i / 4 % 2) {
            c.options.flags |= JITGEMM_GATHER;
            c.gather = gather;
            c.x_rows = 37;
        }
        c.ldx = i / 2 % 2 ? conversion_case_width(&c) + 8 : 0;
        check(&c, i % 4 ? FILL_RANDOM : FILL_SPECIAL, "cast");
    }
}

static void test_combine(void)
{
    for (int i = 0; i < 9; i++) {
        struct combine_case c = {.x_type = (jitgemm_type)(i % 3),
                                 .c_type = (jitgemm_type)(i / 3),
                                 .tokens = (int32_t[]){5, 0, 19}[i % 3],
                                 .max_rows = 19,
                                 .top_k = (int32_t[]){1, 8, 3, 6}[i % 4],
                                 .k = (int64_t[]){272, 16, 1024}[i % 3],
                                 .weighted = i != 4};

        CHECK_INT(combine_case_test(context, &c), 0);
    }
    CHECK_INT(combine_case_test(context, &(struct combine_case){
                                             .tokens = 20,
                                             .max_rows = 19,
                                             .top_k = 2,
                                             .k = 64}),
              0);
}

int main(int count, char **arguments)
{
    small = count > 1 && strcmp(arguments[1], "small") == 0;
    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    test_swiglu();
    test_gather();
    test_cast();
    test_combine();
    jitgemm_context_destroy(context);
    return test_end();
}
