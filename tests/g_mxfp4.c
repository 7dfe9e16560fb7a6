/* SPDX-License-Identifier: MIT */
/* MXFP4 weights on a GPU, and on the emulated device: every scale with every
 * code, to the bit; and the scales of a checkpoint. "g_mxfp4 small" runs the
 * plan's own choice only. */
#include <math.h>
#include <stdlib.h>

#include "conversion_case.h"
#include "expert_case.h"
#include "gpu.h"
#include "launch.h"
#include "product.h"
#include "test.h"

static jitgemm_context *context;

/* ---- Codes ------------------------------------------------------------ */

/* Row 16 * scale + code of B has that code once, at the k below, and that
 * scale there; all else is 0, with a scale that is none of 253 to 255. */
enum { CODE_ROWS = 16 * 256, CODE_K = 160, TOKENS = 2 };

static int64_t code_k(int64_t row)
{
    return row * 37 % CODE_K;
}

static void fill_codes(struct ref_operand *b)
{
    memset(b->values, 0, b->value_bytes);
    for (int64_t row = 0; row < CODE_ROWS; row++) {
        int64_t k = code_k(row);
        unsigned code = (unsigned)row % 16;

        for (int64_t block = 0; block < CODE_K / 32; block++)
            b->scales[ref_scale_offset(row, block, CODE_K / 2)] =
                (uint8_t)(block == k / 32 ? row / 16 : row % 253);
        b->values[(row * CODE_K + k) / 2] =
            (uint8_t)(k % 2 ? code << 4 : code);
    }
}

/* A token of ones, and one that makes a number of what is subnormal. */
static const uint16_t tokens[TOKENS] = {0x3f80, 0x4f80}; /* bf16: 1, 2^32 */

static void fill_tokens(struct ref_operand *a)
{
    uint16_t *values = (uint16_t *)a->values;

    for (int64_t i = 0; i < TOKENS * CODE_K; i++)
        values[i] = tokens[i / CODE_K];
}

/* The weight as a bf16, times the token, as an f32, unless that is past all
 * numbers only then. */
static int64_t check_codes(const struct product *p)
{
    float *c = product_download(p, 0);
    int64_t bad = 0;

    for (int64_t i = 0; i < TOKENS * CODE_ROWS; i++) {
        int64_t row = i % CODE_ROWS;
        double weight = ref_round(REF_BF16, ref_e2m1((unsigned)row % 16) *
                                                ref_e8m0((unsigned)row / 16));
        float want = (float)(weight * (i < CODE_ROWS ? 1 : 4294967296.0));

        if (isnan(want) ? isnan(c[i]) : c[i] == want)
            continue;
        if (isinf(want) && !isinf(weight))
            continue;
        if (bad++ < 4)
            fprintf(stderr, "  scale %d, code %d: %g, not %g\n",
                    (int)row / 16, (int)row % 16, (double)c[i], (double)want);
    }
    free(c);
    return bad;
}

static void test_codes(const struct jg_config *config)
{
    int64_t m = TOKENS, n = CODE_ROWS, k = CODE_K;
    struct product p;
    jitgemm_plan *plan;

    product_make(&p, 1, &m, &n, &k, REF_FULL, false, 1);
    product_make_a(&p, JITGEMM_INPUT_BF16, REF_FULL, 1);
    product_make_mxfp4(&p, REF_FULL, 1);
    p.c_type = JITGEMM_F32;
    fill_tokens(&p.a[0]);
    fill_codes(&p.b[0]);
    product_release(&p);
    product_upload(&p);
    product_poison(&p);
    plan = product_plan(&p, context, config);
    JITGEMM(jitgemm_run(plan, gpu.stream));
    gpu_sync();
    CHECK_INT(check_codes(&p), 0);
    jitgemm_plan_destroy(plan);
    product_free(&p);
}

/* ---- A checkpoint ----------------------------------------------------- */

enum { EXPERTS = 3, N = 200, K = 352 }; /* neither whole atoms */

/* As stored: n rows of k/32 scales each expert, one after the other. */
static void store_scales(const struct expert_case *c, uint8_t *stored)
{
    for (int64_t i = 0; i < EXPERTS * N * (K / 32); i++) {
        int64_t row = i / (K / 32);

        stored[i] = c->b[row / N].scales[ref_scale_offset(
            row % N, i % (K / 32), K / 2)];
    }
}

/* Brings them into the blocked layout, as the header says. */
static void *block_scales(const uint8_t *stored, size_t *bytes)
{
    jitgemm_conversion *conversion = conversion_make(
        context, JITGEMM_E4M3, JITGEMM_ROWS_MASKED, JITGEMM_PLACE_TIGHT);
    int64_t rows =
        jitgemm_scale_rows(JITGEMM_PLACE_TIGHT, EXPERTS * N, EXPERTS);
    jitgemm_conversion_arguments arguments = {
        .size = sizeof arguments,
        .groups = EXPERTS,
        .k = K / 2,
        .max_rows = N,
        .x = gpu_upload(stored, EXPERTS * N * (K / 32)),
        .scales = gpu_alloc(jitgemm_scale_bytes(rows, K / 2))};

    *bytes = EXPERTS * jitgemm_scale_bytes(N, K / 2);
    CHECK(*bytes <= jitgemm_scale_bytes(rows, K / 2));
    JITGEMM(jitgemm_conversion_run(conversion, &arguments, gpu.stream));
    gpu_sync();
    gpu_free((void *)(uintptr_t)arguments.x);
    jitgemm_conversion_destroy(conversion);
    return arguments.scales;
}

/* All bytes arrive where the host's function puts them. */
static void test_every_byte(void)
{
    uint8_t stored[EXPERTS * N * (K / 32)], *blocked, *want;
    size_t bytes, each = jitgemm_scale_bytes(N, K / 2);
    void *device;

    for (size_t i = 0; i < sizeof stored; i++)
        stored[i] = (uint8_t)i;
    device = block_scales(stored, &bytes);
    blocked = malloc(bytes);
    want = malloc(bytes);
    for (size_t g = 0; g < EXPERTS; g++)
        JITGEMM(jitgemm_scales_to_blocked(
            N, K / 2, stored + g * N * (K / 32), want + g * each));
    gpu_download(blocked, device, bytes);
    CHECK(memcmp(blocked, want, bytes) == 0);
    gpu_free(device);
    free(blocked);
    free(want);
}

static void test_experts(void)
{
    static const int32_t offsets[EXPERTS + 1] = {0, 5, 5, 30};
    struct expert_case c = {.rows = {.layout = JITGEMM_ROWS_STACKED,
                                     .groups = EXPERTS,
                                     .max_rows = 31,
                                     .rows = offsets},
                            .n = N,
                            .k = K,
                            .c_type = JITGEMM_BF16,
                            .a_type = JITGEMM_INPUT_BF16,
                            .b_type = JITGEMM_WEIGHTS_MXFP4,
                            .poison = 0xff};
    uint8_t stored[EXPERTS * N * (K / 32)];
    jitgemm_plan *plan = expert_case_plan(&c, context, NULL);
    size_t bytes;

    expert_case_make(&c, 5);
    store_scales(&c, stored);
    gpu_free((void *)(uintptr_t)c.arguments.sfb);
    c.arguments.sfb = block_scales(stored, &bytes);
    expert_case_workspace(plan, &c.arguments);
    JITGEMM(jitgemm_run_experts(plan, &c.arguments, gpu.stream));
    CHECK_INT(expert_case_check(&c, "a checkpoint's scales"), 0);
    expert_case_free(&c);
    jitgemm_plan_destroy(plan);
}

/* ---- */

static void test_refused(void)
{
    int64_t size = 64;
    jitgemm_problem problem = {.size = sizeof problem,
                               .groups = 1,
                               .m = &size,
                               .n = &size,
                               .k = &size,
                               .a_type = JITGEMM_INPUT_BF16,
                               .b_type = JITGEMM_WEIGHTS_MXFP4};
    jitgemm_plan *plan;

    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_E_ARCH);
    CHECK_STR(jitgemm_last_error()->argument, "problem.b_type");
}

int main(int count, char **arguments)
{
    bool small = count > 1 && strcmp(arguments[1], "small") == 0;
    const struct jg_model *model;

    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    model = jg_model_of(context->device.family);
    if (context->device.family == JG_SM90) {
        test_codes(NULL);
        for (int i = 0; i < model->count && !small; i++)
            if (model->configs[i].ctas == 1)
                test_codes(&model->configs[i]);
        test_every_byte();
        test_experts();
    } else {
        test_refused();
    }
    jitgemm_context_destroy(context);
    return test_end();
}
