/* SPDX-License-Identifier: MIT */
/* JITGEMM_DEPENDENT_LAUNCH: what a run reads is made by the kernel right
 * before it, which may still be at work when the run's first kernel starts.
 * "g_dependent PART" tests products, experts (few or many of them) or
 * conversions only. */
#include <stdlib.h>

#include "conversion_case.h"
#include "context.h"
#include "expert_case.h"
#include "gpu.h"
#include "model.h"
#include "product.h"
#include "test.h"

enum { GROUPS = 15, MANY = 271, WORDS = MANY + 1, TIMES = 2 };
enum { SMS = 4 }; /* blocks without work take time to emulate */

static jitgemm_context *context;
static const struct jg_model *model;

/* ---- The kernel before ------------------------------------------------- */

/* WORDS words go from one place to another: a sum of one row. */
struct writer {
    jitgemm_conversion *conversion;
    jitgemm_conversion_arguments arguments;
};

static struct writer writer_make(const void *words)
{
    static const int32_t first = 0;
    const jitgemm_conversion_options options = {.size = sizeof options,
                                                .flags = JITGEMM_COMBINE,
                                                .x_type = JITGEMM_F32,
                                                .c_type = JITGEMM_F32};
    struct writer w = {.arguments = {.size = sizeof w.arguments,
                                     .groups = 1,
                                     .k = WORDS,
                                     .max_rows = 1,
                                     .x = gpu_upload(words, 4 * WORDS),
                                     .values = gpu_alloc(4 * WORDS),
                                     .gather = gpu_upload(&first, 4),
                                     .x_rows = 1,
                                     .top_k = 1}};

    JITGEMM(jitgemm_conversion_create(context, &options, &w.conversion));
    return w;
}

static void writer_poison(const struct writer *w)
{
    GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)w->arguments.values, 0xff,
                   4 * WORDS));
    GPU(cuCtxSynchronize());
}

static void writer_run(const struct writer *w)
{
    JITGEMM(jitgemm_conversion_run(w->conversion, &w->arguments, gpu.stream));
}

static void writer_free(struct writer *w)
{
    jitgemm_conversion_destroy(w->conversion);
    gpu_free((void *)(uintptr_t)w->arguments.x);
    gpu_free((void *)(uintptr_t)w->arguments.gather);
    gpu_free(w->arguments.values);
}

/* Whether that configuration waits in another way than the one before. */
static bool is_new(int i)
{
    const struct jg_config *config = &model->configs[i], *before = config - 1;

    return !i || config->fused != before->fused ||
           (config->ctas > 1) != (before->ctas > 1);
}

/* ---- Products, sizes on the host --------------------------------------- */

/* Written are the factors alpha. */
static void test_product(const struct jg_config *config)
{
    static const int64_t m[] = {5, 0, 8}, n[] = {40, 40, 40},
                         k[] = {512, 512, 512};
    struct product p;
    float words[WORDS] = {0};
    const float *alphas[3];
    struct writer w;
    jitgemm_operands operands;
    jitgemm_plan *plan;
    double worst;

    product_make(&p, 3, m, n, k, REF_FULL, true, 7);
    p.flags = JITGEMM_DEPENDENT_LAUNCH | JITGEMM_ALLOW_SPLIT_K;
    memcpy(words, p.alpha, 3 * sizeof *words);
    w = writer_make(words);
    for (int g = 0; g < 3; g++)
        alphas[g] = (const float *)w.arguments.values + g;
    plan = product_plan(&p, context, config);
    operands = product_operands(&p);
    operands.alpha = alphas;
    JITGEMM(jitgemm_plan_bind(plan, &operands, gpu.stream));
    for (int i = 0; i < TIMES; i++) {
        product_poison(&p);
        writer_poison(&w);
        writer_run(&w);
        JITGEMM(jitgemm_run(plan, gpu.stream));
        gpu_sync();
        CHECK_INT(product_check(&p, 0, false, &worst), 0);
    }
    jitgemm_plan_destroy(plan);
    writer_free(&w);
    product_free(&p);
}

/* ---- Products, sizes on the device ------------------------------------- */

/* Few rows; behind GROUPS none. */
static int32_t offsets[WORDS] = {0, 3, 3, 3, 3, 3, 3, 3};

static void fill_offsets(void)
{
    for (int i = 8; i < WORDS; i++)
        offsets[i] = 8;
}

static const struct expert_case experts = {
    .rows = {.layout = JITGEMM_ROWS_STACKED,
             .groups = GROUPS,
             .max_rows = 8,
             .rows = offsets},
    .n = 40,
    .k = 128,
    .flags = JITGEMM_DEPENDENT_LAUNCH,
    .sm_limit = SMS,
    .poison = 0x7f};

/* Written are the offsets. */
static void test_experts(const struct jg_config *config, int32_t groups)
{
    struct expert_case c = experts;
    struct writer w = writer_make(offsets);
    jitgemm_plan *plan;
    const int32_t *own;

    c.rows.groups = groups;
    plan = expert_case_plan(&c, context, config);
    expert_case_make(&c, 5);
    expert_case_workspace(plan, &c.arguments);
    own = c.arguments.rows;
    for (int i = 0; i < TIMES; i++) {
        expert_case_upload(&c);
        writer_poison(&w);
        c.arguments.rows = w.arguments.values;
        writer_run(&w);
        JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
        c.arguments.rows = own;
        CHECK_INT(expert_case_check(&c, "dependent"), 0);
    }
    expert_case_free(&c);
    jitgemm_plan_destroy(plan);
    writer_free(&w);
}

/* ---- Conversions ------------------------------------------------------- */

/* Written are the offsets. */
static void test_conversion(jitgemm_type type, uint32_t flags)
{
    struct conversion_case c = {
        .options = conversion_options(type, JITGEMM_ROWS_STACKED,
                                      JITGEMM_PLACE_TIGHT),
        .groups = GROUPS,
        .k = 80,
        .max_rows = 8,
        .rows = offsets};
    struct writer w = writer_make(offsets);
    jitgemm_conversion *conversion;
    const int32_t *own;

    c.options.flags = flags | JITGEMM_DEPENDENT_LAUNCH;
    c.options.sm_limit = SMS;
    conversion = conversion_of(context, &c);
    conversion_case_make(&c, FILL_RANDOM, 6);
    own = c.arguments.rows;
    for (int i = 0; i < TIMES; i++) {
        conversion_case_upload(&c);
        writer_poison(&w);
        c.arguments.rows = w.arguments.values;
        writer_run(&w);
        JITGEMM(jitgemm_conversion_run(conversion, &c.arguments, gpu.stream));
        c.arguments.rows = own;
        CHECK_INT(conversion_case_check(&c, "dependent"), 0);
    }
    conversion_case_free(&c);
    jitgemm_conversion_destroy(conversion);
    writer_free(&w);
}

/* Written are the numbers of the rows that are added up, here one each. */
static void test_combine(void)
{
    enum { ROWS = WORDS, K = 16 };
    const jitgemm_conversion_options options = {
        .size = sizeof options,
        .flags = JITGEMM_COMBINE | JITGEMM_DEPENDENT_LAUNCH,
        .c_type = JITGEMM_F32};
    uint16_t x[ROWS][K];
    int32_t numbers[ROWS];
    float got[ROWS][K];
    struct writer w;
    jitgemm_conversion *conversion;
    jitgemm_conversion_arguments arguments = {.size = sizeof arguments,
                                              .groups = 1,
                                              .k = K,
                                              .max_rows = ROWS,
                                              .x_rows = ROWS,
                                              .top_k = 1};

    for (int r = 0; r < ROWS; r++) {
        numbers[r] = (7 * r + 3) % ROWS;
        for (int i = 0; i < K; i++)
            x[r][i] = ref_f16(r + 1.0 / (i + 1));
    }
    w = writer_make(numbers);
    arguments.x = gpu_upload(x, sizeof x);
    arguments.values = gpu_alloc(sizeof got);
    arguments.gather = w.arguments.values;
    JITGEMM(jitgemm_conversion_create(context, &options, &conversion));
    for (int i = 0; i < TIMES; i++) {
        writer_poison(&w);
        writer_run(&w);
        JITGEMM(jitgemm_conversion_run(conversion, &arguments, gpu.stream));
        gpu_sync();
        gpu_download(got, arguments.values, sizeof got);
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < K; j++)
                CHECK(ref_f16((double)got[r][j]) == x[numbers[r]][j]);
    }
    jitgemm_conversion_destroy(conversion);
    gpu_free((void *)(uintptr_t)arguments.x);
    gpu_free(arguments.values);
    writer_free(&w);
}

/* ---- Capture ----------------------------------------------------------- */

/* Such a run may be what a graph begins with, and stand behind a fill. */
static void test_capture(void)
{
    struct expert_case c = experts;
    struct writer w = writer_make(offsets);
    jitgemm_plan *plan = expert_case_plan(&c, context, NULL);
    const int32_t *own;
    CUgraph graph;
    CUgraphExec exec;

    expert_case_make(&c, 5);
    expert_case_workspace(plan, &c.arguments);
    own = c.arguments.rows;
    GPU(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
    GPU(cuMemcpyDtoDAsync((CUdeviceptr)(uintptr_t)w.arguments.values,
                          (CUdeviceptr)(uintptr_t)w.arguments.x, 4 * WORDS,
                          gpu.stream));
    c.arguments.rows = w.arguments.values;
    JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
    writer_run(&w);
    JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
    GPU(cuStreamEndCapture(gpu.stream, &graph));
    GPU(cuGraphInstantiate(&exec, graph, 0));
    c.arguments.rows = own;
    for (int i = 0; i < TIMES; i++) {
        expert_case_upload(&c);
        writer_poison(&w);
        GPU(cuGraphLaunch(exec, gpu.stream));
        CHECK_INT(expert_case_check(&c, "replayed"), 0);
    }
    GPU(cuGraphExecDestroy(exec));
    GPU(cuGraphDestroy(graph));
    expert_case_free(&c);
    jitgemm_plan_destroy(plan);
    writer_free(&w);
}

int main(int count, char **arguments)
{
    const char *part = count > 1 ? arguments[1] : NULL;

    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    model = jg_model_of(context->device.family);
    fill_offsets();
    if (!part || strcmp(part, "products") == 0)
        for (int i = 0; i < model->count; i++)
            if (is_new(i))
                test_product(&model->configs[i]);
    if (!part || strcmp(part, "experts") == 0) {
        for (int i = 0; i < expert_case_configs(model); i++)
            if (is_new(i))
                test_experts(&model->configs[i], GROUPS);
        test_capture();
    }
    if (!part || strcmp(part, "many") == 0)
        for (int i = 0; i < expert_case_configs(model); i++)
            if (is_new(i))
                test_experts(&model->configs[i], MANY);
    if (!part || strcmp(part, "conversions") == 0) {
        test_combine();
        test_conversion(JITGEMM_E4M3, 0);
        test_conversion(JITGEMM_F16, 0);
        test_conversion(JITGEMM_F16, JITGEMM_CAST);
    }
    jitgemm_context_destroy(context);
    return test_end();
}
