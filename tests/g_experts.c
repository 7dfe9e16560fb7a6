/* SPDX-License-Identifier: MIT */
/* Products whose sizes are in device memory, every element of C and what must
 * not be written included: on a GPU, and on the emulated device. "g_experts
 * small" leaves out what takes long there, "g_experts bench" only measures.
 * Bad numbers are g_experts_bad.c. */
#include <stdlib.h>

#include "expert_case.h"
#include "experts_bench.h"
#include "gpu.h"
#include "launch.h"
#include "test.h"

#define STACKED      JITGEMM_ROWS_STACKED
#define MASKED       JITGEMM_ROWS_MASKED
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define GROUPS       5

static jitgemm_context *context;
static const struct jg_model *model;
static bool small;

static void check(struct expert_case *c, const struct jg_config *config,
                  const char *name)
{
    CHECK_INT(expert_case_test(c, context, config, name), 0);
}

/* Odd; first, last or all empty; all in one; then as offsets. */
static const int32_t counts[][GROUPS] = {
    {1, 7, 65, 33, 3}, {0, 0, 5, 0, 31},  {100, 0, 0, 1, 0},
    {0, 0, 0, 0, 0},   {0, 0, 130, 0, 0}, {8, 9, 0, 16, 129}};

static int64_t stack(const int32_t *rows, int32_t *offsets, int32_t groups)
{
    offsets[0] = 0;
    for (int g = 0; g < groups; g++)
        offsets[g + 1] = offsets[g] + rows[g];
    return offsets[groups];
}

static const int32_t scale_rows[GROUPS] = {768, 0, 384, 512, 128};

/* ---- Every configuration ---------------------------------------------- */

static void test_configs(void)
{
    static const jitgemm_input inputs[] = {
        JITGEMM_INPUT_NVFP4, JITGEMM_INPUT_F16, JITGEMM_INPUT_BF16,
        JITGEMM_INPUT_BF16};

    for (int i = 0; i < expert_case_configs(model); i++) {
        int32_t offsets[GROUPS + 1];
        size_t which = (size_t)i % COUNT(counts);
        struct expert_case c = {
            .rows = {.layout = i % 2 ? MASKED : STACKED,
                     .groups = GROUPS,
                     .max_rows = 131,
                     .rows = i % 2 ? counts[which] : offsets},
            .n = i % 3 ? 264 : 136,
            .k = i % 2 ? 320 : 576,
            .gap = i % 3 ? 48 : 0,
            .with_bias = i % 2,
            .flags = i % 3 == 1   ? JITGEMM_ZERO_TAIL
                     : i % 3 == 2 ? JITGEMM_ACCUMULATE
                                  : 0,
            .poison = i % 2 ? 0xff : 0x7f};
        char name[32];

        c.c_type = (jitgemm_type)(i % 3);
        if (model->configs[i].family == JG_SM90) {
            c.a_type = inputs[i / 2 % 4];
            c.b_type = i / 2 % 4 == 3 ? JITGEMM_WEIGHTS_MXFP4
                                      : JITGEMM_WEIGHTS_NVFP4;
        }
        if (c.rows.layout == STACKED)
            c.rows.max_rows = stack(counts[which], offsets, GROUPS) + i % 4;
        if (i % 2 == 0)
            c.row_a = 2 * c.k + 16 * i;
        if (i % 4 % 3 == 0)
            c.row_c = 4 * c.n + 16 * i;
        snprintf(name, sizeof name, "configuration %d", i);
        check(&c, &model->configs[i], name);
    }
}

/* ---- Places ----------------------------------------------------------- */

/* One result, wherever the scales are. */
static void test_places(jitgemm_layout layout)
{
    void *first = NULL;

    for (int place = 0; place < 5; place++) {
        int32_t offsets[GROUPS + 1];
        struct expert_case c = {
            .rows = {.layout = layout,
                     .place = (jitgemm_place)place,
                     .groups = GROUPS,
                     .max_rows = 131,
                     .rows = layout == MASKED ? counts[5] : offsets},
            .n = 136,
            .k = 160,
            .hint_rows = 20 + 20 * place,
            .poison = place % 2 ? 0xff : 0x7f};
        jitgemm_plan *plan;
        void *got;

        if (place == JITGEMM_PLACE_STRIDED && layout == STACKED)
            continue;
        if (layout == STACKED)
            c.rows.max_rows = stack(counts[5], offsets, GROUPS);
        if (place == JITGEMM_PLACE_EXPLICIT) {
            c.rows.scale_row = scale_rows;
            c.rows.scale_rows = 768 + 128;
        }
        c.hint_rows = 100;
        plan = expert_case_plan(&c, context, NULL);
        expert_case_make(&c, 4);
        expert_case_workspace(plan, &c.arguments);
        JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
        CHECK_INT(expert_case_check(&c, "places"), 0);
        got = expert_case_download(&c);
        CHECK(!first || memcmp(first, got, c.c_bytes) == 0);
        free(first);
        first = got;
        expert_case_free(&c);
        jitgemm_plan_destroy(plan);
    }
    free(first);
}

/* ---- Groups ----------------------------------------------------------- */

static void test_many(int32_t groups, jitgemm_layout layout, int64_t hint)
{
    int32_t *rows = calloc((size_t)groups, sizeof *rows);
    int32_t *offsets = calloc((size_t)groups + 1, sizeof *offsets);
    uint64_t seed = (uint64_t)groups;
    struct expert_case c = {
        .rows = {.layout = layout,
                 .place = (jitgemm_place)(groups % 3),
                 .groups = groups,
                 .rows = layout == MASKED ? rows : offsets},
        .n = 40,
        .k = 96,
        .hint_rows = hint,
        .poison = 0x7f};

    for (int32_t g = 0; g < groups; g++)
        rows[g] = (int32_t)(ref_random(&seed) % 9 % 5);
    c.rows.max_rows = stack(rows, offsets, groups);
    if (layout == MASKED)
        c.rows.max_rows = 4;
    check(&c, NULL, "many groups");
    free(rows);
    free(offsets);
}

/* Nobody says how many: all rows of each group; and no rows at all. */
static void test_edges(void)
{
    struct expert_case all = {
        .rows = {.layout = MASKED, .groups = 3, .max_rows = 9},
        .n = 8,
        .k = 32,
        .poison = 0x7f,
        .no_alpha = true};
    static const int32_t zero[2];
    struct expert_case none = {
        .rows = {.layout = STACKED, .groups = 1, .rows = zero},
        .n = 8,
        .k = 32,
        .poison = 0x7f};

    check(&all, NULL, "all rows");
    check(&none, NULL, "no rows");
}

/* More tiles than blocks, and as many multiprocessors as there are. */
static void test_limits(void)
{
    static const int32_t limits[] = {1, 2, 7, INT32_MAX};

    for (size_t i = 0; i < COUNT(limits); i++) {
        struct expert_case c = {
            .rows = {.layout = MASKED, .groups = 3, .max_rows = 131},
            .n = 264,
            .k = 32,
            .poison = 0x7f,
            .sm_limit = limits[i]};

        check(&c, NULL, "a limit on multiprocessors");
    }
}

/* ---- Capture ---------------------------------------------------------- */

/* One graph, whatever is in memory when it is launched. */
static void test_capture(void)
{
    int32_t offsets[GROUPS + 1];
    struct expert_case c = {.rows = {.layout = STACKED,
                                     .groups = GROUPS,
                                     .max_rows = 170,
                                     .rows = offsets},
                            .n = 136,
                            .k = 160,
                            .hint_rows = 150,
                            .flags = JITGEMM_ZERO_TAIL,
                            .row_c = 288,
                            .poison = 0x7f};
    jitgemm_plan *plan;
    CUgraph graph;
    CUgraphExec exec;

    stack(counts[0], offsets, GROUPS);
    expert_case_make(&c, 3);
    plan = expert_case_plan(&c, context, NULL);
    expert_case_workspace(plan, &c.arguments);
    GPU(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
    GPU(cuStreamEndCapture(gpu.stream, &graph));
    GPU(cuGraphInstantiate(&exec, graph, 0));
    for (size_t i = 0; i < COUNT(counts) + 1; i++) {
        stack(counts[i % COUNT(counts)], offsets, GROUPS);
        if (i == COUNT(counts))
            offsets[2] = -3;
        expert_case_upload(&c);
        GPU(cuGraphLaunch(exec, gpu.stream));
        CHECK_INT(expert_case_check(&c, "replayed"), 0);
    }
    GPU(cuGraphExecDestroy(exec));
    GPU(cuGraphDestroy(graph));
    expert_case_free(&c);
    jitgemm_plan_destroy(plan);
}

/* ---- Streams ---------------------------------------------------------- */

/* One plan, a workspace and a stream each. */
static void test_streams(void)
{
    int32_t offsets[2][GROUPS + 1];
    struct expert_case c[2];
    CUstream streams[2] = {gpu.stream, NULL};
    jitgemm_plan *plan;

    GPU(cuStreamCreate(&streams[1], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++) {
        c[i] = (struct expert_case){.rows = {.layout = STACKED,
                                             .groups = GROUPS,
                                             .max_rows = 170,
                                             .rows = offsets[i]},
                                    .n = 136,
                                    .k = 160,
                                    .hint_rows = 150,
                                    .poison = 0x7f};
        stack(counts[5 * i], offsets[i], GROUPS);
        expert_case_make(&c[i], 8 + (uint64_t)i);
    }
    plan = expert_case_plan(&c[0], context, NULL);
    for (int i = 0; i < 2; i++)
        expert_case_workspace(plan, &c[i].arguments);
    for (int times = 0; times < 3; times++)
        for (int i = 0; i < 2; i++)
            JITGEMM(jitgemm_run_experts(plan, &c[i].arguments, streams[i]));
    GPU(cuStreamSynchronize(streams[1]));
    for (int i = 0; i < 2; i++) {
        CHECK_INT(expert_case_check(&c[i], "two streams"), 0);
        expert_case_free(&c[i]);
    }
    jitgemm_plan_destroy(plan);
}

int main(int count, char **arguments)
{
    small = count > 1 && strcmp(arguments[1], "small") == 0;
    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    model = jg_model_of(context->device.family);
    if (count > 1 && strcmp(arguments[1], "bench") == 0) {
        experts_bench(context);
        jitgemm_context_destroy(context);
        return 0;
    }
    test_configs();
    test_places(STACKED);
    test_places(MASKED);
    test_many(1, STACKED, 0);
    test_many(3, MASKED, 0);
    test_many(36, STACKED, 36);
    test_many(256, STACKED, 64);
    test_many(257, MASKED, 64);
    test_many(256, MASKED, 1024);
    test_many(small ? 600 : 1025, STACKED, 0);
    test_edges();
    test_limits();
    test_capture();
    test_streams();
    jitgemm_context_destroy(context);
    return test_end();
}
