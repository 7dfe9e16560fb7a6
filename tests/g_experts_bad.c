/* SPDX-License-Identifier: MIT */
/* Products of groups whose numbers in device memory are wrong: they are left
 * out and reported, the others are multiplied, and nothing else is touched. On
 * a GPU, and on the emulated device ("g_experts_bad small"). */
#include "expert_case.h"
#include "gpu.h"
#include "launch.h"
#include "test.h"

#define STACKED      JITGEMM_ROWS_STACKED
#define MASKED       JITGEMM_ROWS_MASKED
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define GROUPS       5

static jitgemm_context *context;
static const struct jg_model *model;
static const int32_t scale_rows[GROUPS] = {768, 0, 384, 512, 128};

static void check(struct expert_case *c, const struct jg_config *config,
                  const char *name)
{
    CHECK_INT(expert_case_test(c, context, config, name), 0);
}

static void test_bad_offsets(void)
{
    static const int32_t bad[][GROUPS + 1] = {
        {0, 7, 1000000000, 30, 80, 100}, {-1, 7, 9, 30, 80, 100},
        {0, 7, 5, 30, 80, 100},          {0, 7, 9, 30, 80, 101},
        {0, 7, 9, 30, 80, -2000000000},  {0, 100, 0, 100, 0, 100},
        {100, 80, 60, 50, 20, 0},        {0, 7, 9, -5, 80, 100},
        {5, 7, 9, 30, 80, 90},
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct expert_case c = {.rows = {.layout = STACKED,
                                         .place = (jitgemm_place)(i % 3),
                                         .groups = GROUPS,
                                         .max_rows = 100,
                                         .rows = bad[i]},
                                .n = 40,
                                .k = 128,
                                .flags = i % 2 ? 0 : JITGEMM_ZERO_TAIL,
                                .poison = 0x7f};

        if (i % 4 == 3) {
            c.rows.place = JITGEMM_PLACE_EXPLICIT;
            c.rows.scale_row = scale_rows;
            c.rows.scale_rows = 768 + 128;
        }
        check(&c,
              &model->configs[i % (size_t)expert_case_configs(model)],
              "bad offsets");
    }
}

static void test_bad_counts(void)
{
    static const int32_t bad[][GROUPS] = {
        {1, 2, 21, 0, 4}, {20, -1, 21, 0, 4}, {20, 20, 20, 20, 2000000000}};
    static const int32_t good[GROUPS] = {1, 20, 0, 3, 20};
    static const int32_t bad_rows[][GROUPS] = {
        {0, 128, -128, 256, 384}, /* of a group without rows: not looked at */
        {0, 128, 256, 100, 384},
        {0, 128, 256, 384, 640}};

    for (size_t i = 0; i < COUNT(bad) + COUNT(bad_rows); i++) {
        struct expert_case c = {
            .rows = {.layout = MASKED,
                     .place = JITGEMM_PLACE_STRIDED,
                     .groups = GROUPS,
                     .max_rows = 20,
                     .rows = i < COUNT(bad) ? bad[i] : good},
            .n = 40,
            .k = 128,
            .flags = JITGEMM_ZERO_TAIL,
            .poison = 0x7f};

        if (i >= COUNT(bad)) {
            c.rows.place = JITGEMM_PLACE_EXPLICIT;
            c.rows.scale_row = bad_rows[i - COUNT(bad)];
            c.rows.scale_rows = 640;
        }
        check(&c, NULL, "bad counts");
    }
}

/* Any numbers: nothing is touched that is not the product's, which memory of
 * just that size shows. */
static void test_random_offsets(int times)
{
    uint64_t seed = 6;

    for (int i = 0; i < times; i++) {
        int32_t offsets[GROUPS + 1];
        struct expert_case c = {.rows = {.layout = STACKED,
                                         .place = (jitgemm_place)(i % 3),
                                         .groups = GROUPS,
                                         .max_rows = 100,
                                         .rows = offsets},
                                .n = 40,
                                .k = 128,
                                .flags = i % 3 ? 0 : JITGEMM_ZERO_TAIL,
                                .poison = 0x7f};

        for (int g = 0; g <= GROUPS; g++)
            offsets[g] = i % 2 ? (int32_t)(ref_random(&seed) % 130) - 15
                               : (int32_t)ref_random(&seed);
        check(&c, &model->configs[i % expert_case_configs(model)],
              "random offsets");
    }
}

/* The first fault stays, and nobody need want it. */
static void test_fault(void)
{
    static const int32_t rows[] = {3, -1, 2};
    struct expert_case c = {
        .rows = {.layout = MASKED, .groups = 3, .max_rows = 4, .rows = rows},
        .n = 8,
        .k = 32,
        .poison = 0x7f};
    jitgemm_fault fault = {JITGEMM_FAULT_SCALE_ROW, 77, -5}, got;
    jitgemm_plan *plan = expert_case_plan(&c, context, NULL);
    void *at;

    expert_case_make(&c, 1);
    expert_case_workspace(plan, &c.arguments);
    at = c.arguments.fault;
    GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)at, &fault, sizeof fault));
    GPU(cuCtxSynchronize());
    JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
    gpu_sync();
    gpu_download(&got, at, sizeof got);
    CHECK(memcmp(&got, &fault, sizeof got) == 0);
    c.arguments.fault = NULL;
    JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
    c.arguments.fault = at;
    expert_case_free(&c);
    jitgemm_plan_destroy(plan);
}

int main(int count, char **arguments)
{
    bool small = count > 1 && strcmp(arguments[1], "small") == 0;

    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    model = jg_model_of(context->device.family);
    test_bad_offsets();
    test_bad_counts();
    test_random_offsets(small ? 10 : 100);
    test_fault();
    jitgemm_context_destroy(context);
    return test_end();
}
