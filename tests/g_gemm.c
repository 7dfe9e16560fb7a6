/* SPDX-License-Identifier: MIT */
/* Every element of C against the float64 reference, on a GPU: the public
 * cases, full-range inputs, odd sizes, empty groups, NaN, every tile.
 * "g_gemm small" leaves out what takes long under compute-sanitizer, "g_gemm
 * public" is the public tests alone, once each, and "g_gemm variants" other
 * types and maps alone, for the emulated device; "g_gemm M N K" is one
 * product, by every configuration. */
#include <math.h>
#include <stdlib.h>

#include "cases.h"
#include "gpu.h"
#include "launch.h"
#include "product.h"
#include "test.h"

static jitgemm_context *context;
static jitgemm_input a_type; /* of each product; and of B: */
static jitgemm_weights b_type;
static int runs = 2; /* of each product, into poisoned memory */

static void run(const struct product *p, const struct jg_config *config)
{
    jitgemm_plan *plan = product_plan(p, context, config);

    for (int i = 0; i < runs; i++) {
        product_poison(p);
        JITGEMM(jitgemm_run(plan, gpu.stream));
        gpu_sync();
    }
    jitgemm_plan_destroy(plan);
}

static bool allows(const struct jg_config *config, int32_t groups,
                   const int64_t *m, const int64_t *n, const int64_t *k)
{
    jitgemm_problem problem = {.size = sizeof problem,
                               .flags = JITGEMM_ALLOW_SPLIT_K,
                               .groups = groups,
                               .m = m,
                               .n = n,
                               .k = k};
    struct jg_problem checked;
    struct jg_device device;
    bool allowed;

    JITGEMM(jg_problem_read(&problem, &checked));
    jg_device_of_arch(config->family == JG_SM90 ? "sm_90a" : "sm_100a",
                      &device);
    allowed = jg_cut_allows(config, &checked, &device);
    jg_problem_free(&checked);
    return allowed;
}

/* Nothing, if the configuration cannot do it. */
static void check_config(const char *name, int32_t groups, const int64_t *m,
                         const int64_t *n, const int64_t *k,
                         enum ref_fill fill, const struct jg_config *config)
{
    static uint64_t seed = 2026;
    static const char *const fills[] = {"public", "full", "unit"};
    static const char *const inputs[] = {"f16 ", "bf16 "};
    struct product p;
    double worst;
    int64_t bad;

    if (config && !allows(config, groups, m, n, k))
        return;
    product_make(&p, groups, m, n, k, fill, fill == REF_FULL, ++seed);
    if (a_type)
        product_make_a(&p, a_type, fill, seed);
    if (b_type)
        product_make_mxfp4(&p, fill, seed);
    run(&p, config);
    bad = product_check(&p, 0, fill == REF_PUBLIC, &worst);
    printf("%-24s %s%s%-6s seed %llu: %lld wrong, worst error %.2f of bound\n",
           name, a_type ? inputs[a_type - JITGEMM_INPUT_F16] : "",
           b_type ? "mxfp4 " : "", fills[fill], (unsigned long long)seed,
           (long long)bad, worst);
    fflush(stdout);
    CHECK_INT(bad, 0);
    product_free(&p);
}

static void check(const char *name, int32_t groups, const int64_t *m,
                  const int64_t *n, const int64_t *k, enum ref_fill fill)
{
    check_config(name, groups, m, n, k, fill, NULL);
}

static void test_public(void)
{
    runs = 1;
    for (size_t i = 0; i < cases_count; i++)
        if (cases[i].kind == CASE_TEST)
            check(cases[i].name, cases[i].groups, cases[i].m, cases[i].n,
                  cases[i].k, i % 2 ? REF_FULL : REF_PUBLIC);
}

static void test_cases(bool small)
{
    for (size_t i = 0; i < cases_count; i++) {
        const struct gemm_case *c = &cases[i];

        if (c->kind == CASE_LAYER || (c->kind == CASE_BENCH && small))
            continue;
        check(c->name, c->groups, c->m, c->n, c->k, REF_PUBLIC);
        check(c->name, c->groups, c->m, c->n, c->k, REF_FULL);
    }
}

/* Every configuration, whatever the plan would choose. */
static void test_odd_sizes(const struct jg_config *config, bool small)
{
    static const int64_t m[] = {1, 7, 8, 9, 31, 65, 127, 129, 255, 257, 0, 5};
    static const int64_t n[] = {8,   16,  120, 128,  136,  264,
                                640, 8,   1000, 2880, 128, 24576};
    static const int64_t k[] = {32,  64,  96,  160,  224, 256,
                                288, 480, 736, 2880, 64,  4064};
    static const int64_t even_k[] = {64, 320, 1088, 512};
    enum { COUNT = sizeof m / sizeof *m };
    char name[32];

    snprintf(name, sizeof name, "odd sizes, tile %d", config->tile_m);
    check_config(name, COUNT, m, n, k, REF_FULL, config);
    check_config(name, COUNT, m, n, k, REF_UNIT, config);
    /* Whole atoms of scales, as pairs of CTAs need them. */
    check_config(name, 4, m + 6, n + 3, even_k, REF_FULL, config);
    for (int i = 0; i < COUNT && !small; i++)
        check_config(name, 1, &m[i], &n[i], &k[COUNT - 1 - i], REF_FULL,
                     config);
}

static void test_empty(void)
{
    static const int64_t n[] = {128, 256, 8, 128, 136};
    static const int64_t k[] = {256, 64, 512, 32, 96};
    static const int64_t all[5] = {0}, first[] = {0, 0, 5, 9, 1};
    static const int64_t last[] = {70, 8, 1, 0, 0}, mid[] = {33, 0, 0, 0, 2};

    check("all empty", 5, all, n, k, REF_FULL);
    check("first empty", 5, first, n, k, REF_FULL);
    check("last empty", 5, last, n, k, REF_FULL);
    check("middle empty", 5, mid, n, k, REF_FULL);
}

static void test_many_groups(int32_t groups)
{
    int64_t *sizes = calloc(3 * (size_t)groups, sizeof *sizes);
    uint64_t seed = (uint64_t)groups;

    for (int32_t g = 0; g < groups; g++) {
        sizes[g] = (int64_t)(ref_random(&seed) % 20) - 4;
        sizes[g] = sizes[g] < 0 ? 0 : sizes[g];
        sizes[groups + g] = 8 + 8 * (int64_t)(ref_random(&seed) % 20);
        sizes[2 * groups + g] = 32 + 32 * (int64_t)(ref_random(&seed) % 10);
    }
    check("many groups", groups, sizes, sizes + groups, sizes + 2 * groups,
          REF_FULL);
    free(sizes);
}

/* Other types of C; with others of A, or maps that kernels make; some of rows
 * that are not packed, or added to C. All, or one a configuration. */
static void test_variants(const struct jg_model *model, bool all)
{
    static const int64_t m[] = {9, 0, 131, 40}, n[] = {136, 8, 264, 392};
    static const int64_t k[] = {288, 64, 96, 1056};
    static const int64_t even_k[] = {320, 64, 128, 1088};
    static const int64_t long_k[] = {1056}; /* to split */
    static const char *const names[] = {"f16", "bf16", "f32"};
    static const jitgemm_input inputs[] = {
        JITGEMM_INPUT_NVFP4, JITGEMM_INPUT_F16, JITGEMM_INPUT_BF16,
        JITGEMM_INPUT_BF16}; /* the last with MXFP4 */

    for (int i = 0; i < model->count; i++)
        for (int variant = 1; variant < 12; variant++) {
            struct jg_config config = model->configs[i];
            bool hopper = config.family == JG_SM90;
            bool split = hopper && config.ctas > 1;
            bool pair = !hopper && config.ctas > 1;
            int most = hopper ? 11 : pair ? 2 : 5, group = variant / 3;
            struct product p;
            double worst;
            int64_t bad;

            if (variant > most || (!all && !pair && variant != 1 + i % most))
                continue;
            product_make(&p, split ? 1 : 4, m, n,
                         split  ? long_k
                         : pair ? even_k
                                : k, REF_FULL, true,
                         (uint64_t)(100 + variant));
            p.c_type = (jitgemm_type)(variant % 3);
            if (hopper && group)
                product_make_a(&p, inputs[group], REF_FULL, 99);
            if (hopper && group == 3)
                product_make_mxfp4(&p, REF_FULL, 97);
            if (variant % 2)
                product_make_bias(&p, 98);
            if ((variant + i) % 3 == 0)
                product_make_rows(&p, i % 8 ? 16 * (1 + i % 4) : 0,
                                  i % 8 == 1 ? 0 : 16);
            if ((variant + i) % 4 < 2)
                p.flags = JITGEMM_ACCUMULATE;
            config.edits_maps = !hopper && group;
            run(&p, &config);
            bad = product_check(&p, 0, false, &worst);
            printf("tile %3dx%d, %s, %s %d%s%s: %lld wrong\n", config.tile_m,
                   config.tile_n, names[variant % 3],
                   hopper ? "input" : "edited maps", group,
                   p.row_a || p.row_c ? ", strided" : "", p.flags ? ", adds" : "",
                   (long long)bad);
            CHECK_INT(bad, 0);
            product_free(&p);
        }
}

/* A NaN scale reaches the row or column that it scales, and no other. */
static void test_nan(void)
{
    int64_t m = 70, n = 136, k = 288;
    struct product p;
    jitgemm_plan *plan;
    uint16_t *c;

    product_make(&p, 1, &m, &n, &k, REF_FULL, true, 77);
    p.a[0].scales[ref_scale_offset(33, 17, k)] = 0x7f;
    p.b[0].scales[ref_scale_offset(129, 3, k)] = 0xff;
    GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)p.device[1][0], p.a[0].scales,
                     p.a[0].scale_bytes));
    GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)p.device[3][0], p.b[0].scales,
                     p.b[0].scale_bytes));
    product_poison(&p);
    plan = product_plan(&p, context, NULL);
    JITGEMM(jitgemm_run(plan, gpu.stream));
    gpu_sync();
    c = product_download(&p, 0);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            CHECK_INT((c[i * n + j] & 0x7fff) > 0x7c00, i == 33 || j == 129);
    free(c);
    jitgemm_plan_destroy(plan);
    product_free(&p);
}

/* An element's sum is added up in one order, whatever the other sizes are that
 * a configuration was chosen for. */
static void test_same_bits(const struct jg_model *model)
{
    int64_t m = 20, n = 136, k = 1088; /* even, for pairs of CTAs */
    struct product p;
    uint16_t *first = NULL;

    product_make(&p, 1, &m, &n, &k, REF_FULL, true, 78);
    for (int i = 0; i < model->count; i++) {
        const struct jg_config *config = &model->configs[i];
        uint16_t *c;

        if (config->family == JG_SM90 && config->ctas > 1)
            continue; /* parts of k */
        run(&p, config);
        c = product_download(&p, 0);
        if (first)
            CHECK(memcmp(c, first, (size_t)(m * n) * sizeof *c) == 0);
        else
            first = c;
        if (c != first)
            free(c);
    }
    free(first);
    product_free(&p);
}

/* NaN and infinities of A reach their rows, and no other. A zero that an
 * infinity meets is NaN, too: no element of the row is a number. */
static void test_not_finite(void)
{
    static const uint16_t bits[2][2] = {{0x7e01, 0xfc00}, {0x7fc1, 0xff80}};
    int64_t m = 70, n = 136, k = 288;

    for (int type = 0; type < 2; type++) {
        struct product p;
        jitgemm_plan *plan;
        float *c;

        product_make(&p, 1, &m, &n, &k, REF_FULL, true, 77);
        product_make_a(&p, type ? JITGEMM_INPUT_BF16 : JITGEMM_INPUT_F16,
                       REF_FULL, 78);
        for (int i = 0; i < 2; i++)
            memcpy(p.a[0].values + ((33 + 31 * i) * k + 200 + i) * 2,
                   &bits[type][i], 2);
        GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)p.device[0][0],
                         p.a[0].values, p.a[0].value_bytes));
        p.c_type = JITGEMM_F32;
        product_poison(&p);
        plan = product_plan(&p, context, NULL);
        JITGEMM(jitgemm_run(plan, gpu.stream));
        gpu_sync();
        c = product_download(&p, 0);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                CHECK_INT(!isfinite(c[i * n + j]), i == 33 || i == 64);
        free(c);
        jitgemm_plan_destroy(plan);
        product_free(&p);
    }
}

/* What the plan chooses, and every configuration, with other types of A and
 * of B. */
static void test_inputs(const struct jg_model *model, bool small)
{
    for (int type = 0; type < 3; type++) {
        a_type = type ? JITGEMM_INPUT_BF16 : JITGEMM_INPUT_F16;
        b_type = type < 2 ? JITGEMM_WEIGHTS_NVFP4 : JITGEMM_WEIGHTS_MXFP4;
        if (!small)
            test_cases(true);
        for (int i = 0; i < model->count; i += small ? 4 : 1)
            test_odd_sizes(&model->configs[i], true);
        test_empty();
    }
    a_type = JITGEMM_INPUT_NVFP4;
    b_type = JITGEMM_WEIGHTS_NVFP4;
    test_not_finite();
}

int main(int count, char **arguments)
{
    bool small = count > 1 && strcmp(arguments[1], "small") == 0;
    const struct jg_model *model;

    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    model = jg_model_of(context->device.family);
    if (count > 1 && strcmp(arguments[1], "public") == 0) {
        test_public();
        return test_end();
    }
    if (count > 1 && strcmp(arguments[1], "variants") == 0) {
        test_variants(model, false);
        test_same_bits(model);
        if (context->device.family == JG_SM90)
            test_not_finite();
        return test_end();
    }
    if (count == 4) {
        int64_t size[] = {atoll(arguments[1]), atoll(arguments[2]),
                          atoll(arguments[3])};

        for (int i = 0; i < model->count; i++)
            check_config("one", 1, &size[0], &size[1], &size[2], REF_FULL,
                         &model->configs[i]);
        return test_end();
    }
    test_cases(small);
    for (int i = 0; i < model->count; i++)
        test_odd_sizes(&model->configs[i], small);
    test_empty();
    test_many_groups(small ? 17 : 257);
    if (!small)
        test_many_groups(1025);
    test_nan();
    test_same_bits(model);
    test_variants(model, !small);
    if (context->device.family == JG_SM90)
        test_inputs(model, small);
    jitgemm_context_destroy(context);
    return test_end();
}
