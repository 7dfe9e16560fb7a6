/* SPDX-License-Identifier: MIT */
/* Types of A and B, as callers ask for them: which there are, on which GPU,
 * and that scales are asked for where there are some. */
#include "check_error.h"
#include "fake/fakes.h"
#include "model.h"
#include "spec.h"

static struct fakes fakes;
static _Alignas(16) unsigned char memory[16];
static int64_t m = 2000, n = 4096, k = 256; /* takes two kernels */
static const void *in = memory;
static void *out = memory;

static jitgemm_problem problem_of(jitgemm_input type)
{
    return (jitgemm_problem){.size = sizeof(jitgemm_problem),
                             .groups = 1,
                             .m = &m,
                             .n = &n,
                             .k = &k,
                             .a_type = type};
}

/* No number of the other types is a type of A, but 0. */
static void test_numbers(jitgemm_context *context)
{
    static const int bad[] = {JITGEMM_BF16, JITGEMM_F32, JITGEMM_E4M3,
                              15,           18,          -1};
    jitgemm_plan *plan = NULL;
    jitgemm_problem problem;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        problem = problem_of((jitgemm_input)bad[i]);
        CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan),
                    JITGEMM_E_ARGUMENT, "problem.a_type");
        CHECK_INT(jitgemm_last_error()->got, bad[i]);
    }
    CHECK(!plan);
}

/* The scales of A may be missing, or anything, exactly if it has none. */
static void test_scales(jitgemm_context *context)
{
    static const jitgemm_input types[] = {
        JITGEMM_INPUT_NVFP4, JITGEMM_INPUT_F16, JITGEMM_INPUT_BF16};

    for (int i = 0; i < 3; i++) {
        jitgemm_problem problem = problem_of(types[i]);
        const void *none = NULL, *odd = memory + 1;
        jitgemm_operands operands = {.size = sizeof operands,
                                     .a = &in,
                                     .b = &in,
                                     .sfb = &in,
                                     .c = &out};
        jitgemm_plan *plan = NULL;

        CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
        if (i) {
            CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
            operands.sfa = &none;
            CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
            operands.sfa = &odd;
            CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
            CHECK_INT(jitgemm_run(plan, NULL), JITGEMM_OK);
        } else {
            CHECK_ERROR(jitgemm_plan_bind(plan, &operands, NULL),
                        JITGEMM_E_ARGUMENT, "operands.sfa");
            operands.sfa = &none;
            CHECK_ERROR(jitgemm_plan_bind(plan, &operands, NULL),
                        JITGEMM_E_ARGUMENT, "operands.sfa");
            operands.sfa = &odd;
            CHECK_ERROR(jitgemm_plan_bind(plan, &operands, NULL),
                        JITGEMM_E_ALIGN, "operands.sfa");
        }
        in = odd;
        CHECK_ERROR(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_E_ALIGN,
                    "operands.a");
        in = memory;
        jitgemm_plan_destroy(plan);
    }
}

/* There are two types of B, and one A that goes with MXFP4. */
static void test_weights(jitgemm_context *context)
{
    static const int bad[] = {2, 16, -1};
    jitgemm_problem problem = problem_of(JITGEMM_INPUT_BF16);
    jitgemm_plan *plan = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        problem.b_type = (jitgemm_weights)bad[i];
        CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan),
                    JITGEMM_E_ARGUMENT, "problem.b_type");
        CHECK_INT(jitgemm_last_error()->got, bad[i]);
    }
    problem.b_type = JITGEMM_WEIGHTS_MXFP4;
    for (int i = 0; i < 2; i++) {
        problem.a_type = i ? JITGEMM_INPUT_F16 : JITGEMM_INPUT_NVFP4;
        CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan),
                    JITGEMM_E_ARGUMENT, "problem.b_type");
        CHECK(strstr(jitgemm_last_error()->text, "JITGEMM_INPUT_BF16 (17)"));
    }
    CHECK(!plan);
    problem.a_type = JITGEMM_INPUT_BF16;
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    jitgemm_plan_destroy(plan);
}

/* A caller who knows no b_type means NVFP4. */
static void test_older_problem(jitgemm_context *context)
{
    jitgemm_problem problem = problem_of(JITGEMM_INPUT_F16);
    jitgemm_plan *plan = NULL;

    problem.b_type = JITGEMM_WEIGHTS_MXFP4;
    problem.size = offsetof(jitgemm_problem, b_type);
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    jitgemm_plan_destroy(plan);
}

/* f16 and bf16 are put in order by one kernel. */
static void test_specs(void)
{
    struct jg_config config = jg_model_of(JG_SM90)->configs[3];
    struct jg_device device;
    struct jg_spec made[3][2], mxfp4[2];
    static const enum jg_input types[] = {JG_IN_NVFP4, JG_IN_F16, JG_IN_BF16};
    static const char *const constants[] = {"int input = 0;",
                                            "int input = 16;",
                                            "int input = 17;"};

    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    for (int i = 0; i < 3; i++) {
        config.input = types[i];
        jg_spec_make(&config, &device, 0, &made[i][0]);
        jg_spec_make(&config, &device, 1, &made[i][1]);
        CHECK(strstr(made[i][1].text, constants[i]) != NULL);
        CHECK_INT(made[i][1].shared_bytes, made[0][1].shared_bytes);
    }
    CHECK(strstr(made[1][1].name, "f16 to f16") != NULL);
    CHECK(strstr(made[2][1].name, "bf16 to f16") != NULL);
    /* With other weights the product is another, and smaller. */
    config.weights = JG_W_MXFP4;
    jg_spec_make(&config, &device, 0, &mxfp4[0]);
    jg_spec_make(&config, &device, 1, &mxfp4[1]);
    CHECK_STR(mxfp4[0].text, made[2][0].text);
    CHECK(strstr(made[2][1].text, "int weights = 0;") != NULL);
    CHECK(strstr(mxfp4[1].text, "int weights = 1;") != NULL);
    CHECK(strstr(mxfp4[1].name, "mxfp4 to f16") != NULL);
    CHECK_INT(made[2][1].shared_bytes - mxfp4[1].shared_bytes,
              config.stages * config.tile_n * config.tile_k / 32);
    CHECK(strcmp(made[0][0].text, made[1][0].text) != 0);
    CHECK(strcmp(made[0][0].name, made[1][0].name) != 0);
    CHECK_STR(made[1][0].text, made[2][0].text);
    CHECK_STR(made[1][0].name, made[2][0].name);
}

int main(void)
{
    jitgemm_context *context = NULL;
    jitgemm_problem problem = problem_of(JITGEMM_INPUT_F16);
    jitgemm_plan *plan = NULL;

    fakes = fakes_open();
    fakes.cuda->major = 9;
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    test_numbers(context);
    test_scales(context);
    test_weights(context);
    test_older_problem(context);
    jitgemm_context_destroy(context);
    fakes.cuda->major = 10;
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan), JITGEMM_E_ARCH,
                "problem.a_type");
    problem = problem_of(JITGEMM_INPUT_BF16);
    problem.b_type = JITGEMM_WEIGHTS_MXFP4;
    CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan), JITGEMM_E_ARCH,
                "problem.b_type");
    jitgemm_context_destroy(context);
    test_specs();
    fakes_close(&fakes);
    return test_end();
}
