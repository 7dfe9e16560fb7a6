/* SPDX-License-Identifier: MIT */
/* Conversions, byte by byte against the reference, what must not be written
 * included: on a GPU, and on the emulated device. "g_quantize small" leaves
 * out what takes long there, "g_quantize bench" only measures. Bad numbers are
 * g_quantize_bad.c. */
#include <stdlib.h>

#include "combine_bench.h"
#include "conversion_case.h"
#include "gpu.h"
#include "quantize_bench.h"
#include "quantize_far.h"
#include "test.h"

#define STACKED      JITGEMM_ROWS_STACKED
#define MASKED       JITGEMM_ROWS_MASKED
#define COUNT(array) (sizeof(array) / sizeof *(array))

static jitgemm_context *context;
static bool small;

static void check(struct conversion_case *c, enum conversion_fill fill,
                  const char *name)
{
    CHECK_INT(conversion_case_test(context, c, fill, name), 0);
}

/* ---- Every bit pattern ------------------------------------------------ */

/* Element i % 16 of block i is the bits i, the others are `other`. */
static void fill_every(struct conversion_case *c, uint16_t other)
{
    uint16_t *x = (uint16_t *)c->x;

    for (int i = 0; i < 65536; i++)
        for (int j = 0; j < 16; j++)
            x[16 * i + j] = j == i % 16 ? (uint16_t)i : other;
}

/* Alone, so that they choose the scale; beside 1 and beside one that is not
 * alone in its binade, so that they are what is rounded. */
static void test_every(jitgemm_type type)
{
    static const float scales[] = {1, 0.37f, 448};
    uint16_t others[] = {0, type == JITGEMM_F16 ? 0x3c00 : 0x3f80,
                         type == JITGEMM_F16 ? 0x46e9 : 0x40dd};
    struct conversion_case c = {
        .options = conversion_options(type, MASKED, JITGEMM_PLACE_TIGHT),
        .groups = 1,
        .k = 1024,
        .max_rows = 1024};
    jitgemm_conversion *conversion;

    for (size_t i = 0; i < (small ? 2 : 9); i++) {
        c.scale = &scales[(i + i / 3) % 3];
        conversion_case_make(&c, FILL_NONE, 0);
        fill_every(&c, others[(i + small) % 3]);
        conversion_case_upload(&c);
        conversion = conversion_of(context, &c);
        JITGEMM(jitgemm_conversion_run(conversion, &c.arguments, gpu.stream));
        CHECK_INT(conversion_case_check(&c, "every pattern"), 0);
        conversion_case_free(&c);
        jitgemm_conversion_destroy(conversion);
    }
}

/* ---- Groups ----------------------------------------------------------- */

#define GROUPS 5

/* Odd, empty, first or last empty, whole atoms, none; then as offsets. */
static const int32_t counts[][GROUPS] = {
    {1, 127, 128, 129, 3}, {0, 0, 5, 0, 131},   {300, 0, 0, 1, 0},
    {0, 0, 0, 0, 0},       {128, 128, 0, 1, 0}, {0, 0, 0, 0, 255}};

static int64_t stack(const int32_t *rows, int32_t *offsets)
{
    offsets[0] = 0;
    for (int g = 0; g < GROUPS; g++)
        offsets[g + 1] = offsets[g] + rows[g];
    return offsets[GROUPS];
}

static const float global_scales[GROUPS] = {1, 0.01f, 700, 2688, 3.3f};
static const int32_t scale_rows[GROUPS] = {1280, 0, 640, 896, 256};

static void test_groups(jitgemm_type type, jitgemm_layout layout,
                        jitgemm_place place, bool linear, size_t i)
{
    static const int64_t ks[] = {16, 80, 64, 528, 1040, 2896};
    struct conversion_case c = {.options =
                                    conversion_options(type, layout, place),
                                .groups = GROUPS,
                                .k = ks[i % COUNT(ks)]};
    int32_t offsets[GROUPS + 1];
    int64_t all = stack(counts[i], offsets);
    char name[64];

    if (linear)
        c.options.scale_order = JITGEMM_SCALES_LINEAR;
    c.rows = layout == STACKED ? offsets : counts[i];
    /* Room for more than there is: what is behind must stay. */
    c.max_rows = layout == STACKED ? all + 70 * (int64_t)(i % 3) : 300;
    c.scale = type != JITGEMM_E4M3 && i % 4 ? global_scales : NULL;
    c.ldx = i % 2 ? c.k + 8 : 0;
    if (place == JITGEMM_PLACE_EXPLICIT) {
        c.scale_row = scale_rows;
        c.scale_rows = 1280 + 384;
    }
    snprintf(name, sizeof name, "type %d, layout %d, place %d, case %zu",
             (int)type, (int)layout, (int)place, i);
    check(&c, (enum conversion_fill)(i % 3), name);
}

static void test_places(void)
{
    static const jitgemm_type types[] = {JITGEMM_F16, JITGEMM_BF16,
                                         JITGEMM_E4M3};

    for (int n = 0; n < 3 * 2 * 6; n++) {
        jitgemm_type type = types[n % 3];
        jitgemm_layout layout = (jitgemm_layout)(n / 3 % 2);
        bool linear = n / 6 == 5;
        jitgemm_place place = (jitgemm_place)(n / 6 % 5);

        if ((place == JITGEMM_PLACE_STRIDED && layout == STACKED) ||
            (linear && type == JITGEMM_E4M3))
            continue;
        for (size_t i = 0; i < COUNT(counts); i++)
            if (!small || (i + (size_t)n) % 3 == 0)
                test_groups(type, layout, place, linear, i);
    }
}

/* Nobody says how many: all rows of each group. Weights of experts. */
static void test_weights(void)
{
    for (int i = 0; i < (small ? 2 : 6); i++) {
        struct conversion_case c = {
            .options = conversion_options(JITGEMM_E4M3, MASKED,
                                          JITGEMM_PLACE_STRIDED),
            .groups = 3,
            .k = (int64_t[]){4096, 2880, 272, 16, 2048 + 64, 7168}[i],
            .max_rows = (int64_t[]){256, 130, 1, 129, 200, 384}[i]};

        check(&c, FILL_RANDOM, "weights");
    }
}

/* One block of threads does several tiles, of many groups. */
static void test_many(int32_t groups, jitgemm_place place)
{
    int32_t *offsets = calloc((size_t)groups + 1, sizeof *offsets);
    uint64_t seed = (uint64_t)groups;
    struct conversion_case c = {
        .options = conversion_options(JITGEMM_F16, STACKED, place),
        .groups = groups,
        .k = 32,
        .rows = offsets};

    for (int32_t g = 0; g < groups; g++)
        offsets[g + 1] = offsets[g] + (int32_t)(ref_random(&seed) % 4 % 3);
    c.max_rows = offsets[groups];
    check(&c, FILL_RANDOM, "many groups");
    free(offsets);
}

/* Room for 100000 rows, a few of them used; by all multiprocessors or few. */
static void test_capacity(int32_t sm_limit)
{
    static const int32_t offsets[] = {0, 2, 2, 135, 135, 140};
    struct conversion_case c = {
        .options =
            conversion_options(JITGEMM_BF16, STACKED, JITGEMM_PLACE_TIGHT),
        .groups = GROUPS,
        .k = 64,
        .max_rows = 100000,
        .rows = offsets};

    c.options.sm_limit = sm_limit;
    check(&c, FILL_RANDOM, "capacity");
}

/* ---- Capture ---------------------------------------------------------- */

/* One graph, whatever is in memory when it is launched. A conversion can be
 * made while a stream is captured. */
static void test_capture(void)
{
    int32_t offsets[GROUPS + 1];
    struct conversion_case c = {.options = conversion_options(
                                    JITGEMM_F16, STACKED, JITGEMM_PLACE_TIGHT),
                                .groups = GROUPS,
                                .k = 80,
                                .max_rows = 400,
                                .rows = offsets};
    jitgemm_conversion *conversion;
    CUgraph graph;
    CUgraphExec exec;

    stack(counts[0], offsets);
    conversion_case_make(&c, FILL_RANDOM, 3);
    GPU(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    conversion = conversion_of(context, &c);
    JITGEMM(jitgemm_conversion_run(conversion, &c.arguments, gpu.stream));
    GPU(cuStreamEndCapture(gpu.stream, &graph));
    GPU(cuGraphInstantiate(&exec, graph, 0));
    for (size_t i = 0; i < COUNT(counts) + 1; i++) {
        stack(counts[i % COUNT(counts)], offsets);
        if (i == COUNT(counts))
            offsets[2] = -3;
        conversion_case_upload(&c);
        GPU(cuGraphLaunch(exec, gpu.stream));
        CHECK_INT(conversion_case_check(&c, "replayed"), 0);
    }
    GPU(cuGraphExecDestroy(exec));
    GPU(cuGraphDestroy(graph));
    conversion_case_free(&c);
    jitgemm_conversion_destroy(conversion);
}

int main(int count, char **arguments)
{
    small = count > 1 && strcmp(arguments[1], "small") == 0;
    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    if (count > 1 && strcmp(arguments[1], "bench") == 0) {
        quantize_bench(context);
        combine_bench(context);
        jitgemm_context_destroy(context);
        return 0;
    }
    test_every(JITGEMM_F16);
    test_every(JITGEMM_BF16);
    test_places();
    test_weights();
    test_many(small ? 300 : 1025, JITGEMM_PLACE_TIGHT);
    test_many(small ? 2600 : 5000, JITGEMM_PLACE_FLOOR);
    test_capacity(0);
    test_capacity(3);
    CHECK_INT(quantize_far(context, small ? 300 : 300000), 0);
    test_capture();
    jitgemm_context_destroy(context);
    return test_end();
}
