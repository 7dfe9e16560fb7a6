/* SPDX-License-Identifier: MIT */
/* The rules on problems with sizes on the device and on the arguments of their
 * runs, on a fake driver. */
#include <stdlib.h>

#include "check_error.h"
#include "fake/fakes.h"
#include "jitgemm.h"
#include "test.h"

static struct fakes fakes;
static jitgemm_context *context;
static _Alignas(256) unsigned char memory[512];
static const int64_t n = 264, k = 1056;

/* ---- Problems ---------------------------------------------------------- */

static jitgemm_problem good_problem(void)
{
    return (jitgemm_problem){.size = sizeof(jitgemm_problem),
                             .groups = 3,
                             .n = &n,
                             .k = &k,
                             .sizes = JITGEMM_SIZES_DEVICE,
                             .max_rows = 300,
                             .hint_rows = 20};
}

#define SPOIL_PROBLEM(field, value, status_)                                  \
    do {                                                                      \
        jitgemm_problem spoilt = good_problem();                              \
        spoilt.field = (value);                                               \
        CHECK_ERROR(jitgemm_plan_create(context, &spoilt, &plan), status_,    \
                    "problem." #field);                                       \
    } while (0)

static void test_problems(void)
{
    static const int64_t odd[] = {12, 40}, none[] = {0};
    jitgemm_plan *plan;
    jitgemm_problem problem = good_problem();

    SPOIL_PROBLEM(sizes, (jitgemm_sizes)2, JITGEMM_E_ARGUMENT);
    SPOIL_PROBLEM(m, &n, JITGEMM_E_ARGUMENT);
    SPOIL_PROBLEM(n, NULL, JITGEMM_E_ARGUMENT);
    SPOIL_PROBLEM(k, NULL, JITGEMM_E_ARGUMENT);
    SPOIL_PROBLEM(n, odd, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(k, odd + 1, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(k, none, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(layout, (jitgemm_layout)2, JITGEMM_E_ARGUMENT);
    SPOIL_PROBLEM(place, (jitgemm_place)5, JITGEMM_E_ARGUMENT);
    SPOIL_PROBLEM(place, JITGEMM_PLACE_STRIDED, JITGEMM_E_ARGUMENT);
    SPOIL_PROBLEM(max_rows, -1, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(max_rows, INT64_C(1) << 31, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(hint_rows, -1, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(hint_rows, 301, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(row_a, k / 2 - 16, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(row_a, k / 2 + 8, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(row_a, INT64_C(1) << 31, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(row_a, -16, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(row_c, 2 * n - 16, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(row_c, 2 * n + 8, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(row_c, INT64_C(1) << 31, JITGEMM_E_SHAPE);
    SPOIL_PROBLEM(flags, JITGEMM_ZERO_TAIL | JITGEMM_ACCUMULATE,
                  JITGEMM_E_ARGUMENT);
    problem.layout = JITGEMM_ROWS_MASKED;
    problem.max_rows = INT32_MAX; /* more than a table has numbers for */
    problem.groups = 65536;
    CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan), JITGEMM_E_SHAPE,
                "problem.max_rows");
    problem.groups = 16;
    CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan), JITGEMM_E_SHAPE,
                "problem.groups");
}

/* Those that are for the device only. */
static void test_host_problems(void)
{
    jitgemm_plan *plan;

#define SPOIL_HOST(field, value)                                              \
    do {                                                                      \
        jitgemm_problem problem = {                                           \
            .size = sizeof problem, .groups = 1, .m = &n, .n = &n, .k = &k};  \
        problem.field = (value);                                              \
        CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan),            \
                    JITGEMM_E_ARGUMENT, "problem." #field);                   \
    } while (0)
    SPOIL_HOST(layout, JITGEMM_ROWS_MASKED);
    SPOIL_HOST(place, JITGEMM_PLACE_CEIL);
    SPOIL_HOST(max_rows, 5);
    SPOIL_HOST(hint_rows, 5);
}

/* ---- Arguments --------------------------------------------------------- */

static size_t bytes;

/* Good arguments, for tests to spoil. */
static jitgemm_expert_arguments good(void)
{
    return (jitgemm_expert_arguments){.size = sizeof(jitgemm_expert_arguments),
                                      .a = memory,
                                      .sfa = memory,
                                      .b = memory,
                                      .sfb = memory,
                                      .c = memory,
                                      .alpha = (float *)(void *)memory,
                                      .rows = (int32_t *)(void *)memory,
                                      .fault = (jitgemm_fault *)(void *)memory,
                                      .workspace = memory,
                                      .workspace_bytes = bytes};
}

#define SPOIL(field, value, status_)                                          \
    do {                                                                      \
        arguments = good();                                                   \
        arguments.field = (value);                                            \
        CHECK_ERROR(jitgemm_run_experts(plan, &arguments, NULL), status_,     \
                    "arguments." #field);                                     \
    } while (0)

static void test_pointers(const jitgemm_plan *plan)
{
    jitgemm_expert_arguments arguments;

    SPOIL(flags, 2, JITGEMM_E_ARGUMENT);
    SPOIL(a, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(a, memory + 8, JITGEMM_E_ALIGN);
    SPOIL(sfa, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(sfa, memory + 4, JITGEMM_E_ALIGN);
    SPOIL(b, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(b, memory + 8, JITGEMM_E_ALIGN);
    SPOIL(sfb, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(sfb, memory + 8, JITGEMM_E_ALIGN);
    SPOIL(c, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(c, memory + 2, JITGEMM_E_ALIGN);
    SPOIL(alpha, (float *)(void *)(memory + 2), JITGEMM_E_ALIGN);
    SPOIL(bias, memory + 1, JITGEMM_E_ALIGN);
    SPOIL(rows, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(rows, (int32_t *)(void *)(memory + 2), JITGEMM_E_ALIGN);
    SPOIL(scale_row, arguments.rows, JITGEMM_E_ARGUMENT);
    SPOIL(scale_rows, 128, JITGEMM_E_SHAPE);
    SPOIL(fault, (jitgemm_fault *)(void *)(memory + 4), JITGEMM_E_ALIGN);
    SPOIL(workspace, NULL, JITGEMM_E_ARGUMENT);
    SPOIL(workspace, memory + 128, JITGEMM_E_ALIGN);
    SPOIL(workspace_bytes, bytes - 1, JITGEMM_E_ARGUMENT);
}

static void test_strides(const jitgemm_plan *plan)
{
    int64_t row = n * k / 2, scales = (int64_t)jitgemm_scale_bytes(n, k);
    jitgemm_expert_arguments arguments;

    SPOIL(stride_b, row - 16, JITGEMM_E_ARGUMENT);
    SPOIL(stride_b, -row, JITGEMM_E_ARGUMENT);
    SPOIL(stride_b, INT64_MAX, JITGEMM_E_ARGUMENT);
    SPOIL(stride_b, INT64_C(1) << 40, JITGEMM_E_ARGUMENT);
    SPOIL(stride_b, row + 8, JITGEMM_E_ALIGN);
    SPOIL(stride_sfb, scales - 16, JITGEMM_E_ARGUMENT);
    SPOIL(stride_sfb, scales + 8, JITGEMM_E_ALIGN);
    arguments = good();
    arguments.stride_b = row + 16;
    arguments.stride_sfb = scales;
    CHECK_INT(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_OK);
    arguments.stride_b = (INT64_C(1) << 40) - 16;
    CHECK_INT(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_OK);
}

/* With few rows one kernel makes all that it needs, but beyond a number of
 * groups. */
static void test_workspace(void)
{
    for (int32_t groups = 256; groups <= 257; groups++) {
        jitgemm_problem problem = good_problem();
        jitgemm_expert_arguments arguments;
        jitgemm_plan *plan = NULL;

        problem.groups = groups;
        problem.hint_rows = 2;
        CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
        CHECK_INT(jitgemm_plan_workspace(plan, &bytes), JITGEMM_OK);
        CHECK((bytes == 0) == (groups == 256));
        arguments = good();
        arguments.workspace = bytes ? memory : NULL;
        fakes.cuda->grid = 0;
        CHECK_INT(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_OK);
        CHECK(fakes.cuda->grid > 0);
        SPOIL(workspace, memory + 128, JITGEMM_E_ALIGN);
        jitgemm_plan_destroy(plan);
    }
}

static void test_calls(jitgemm_plan *plan)
{
    jitgemm_problem problem = {
        .size = sizeof problem, .groups = 1, .m = &n, .n = &n, .k = &k};
    jitgemm_operands operands = {.size = sizeof operands};
    jitgemm_expert_arguments arguments = good();
    jitgemm_plan *other = NULL;

    CHECK_ERROR(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_E_ARGUMENT,
                "plan");
    CHECK_ERROR(jitgemm_run(plan, NULL), JITGEMM_E_ARGUMENT, "plan");
    CHECK(strstr(jitgemm_last_error()->text, "jitgemm_run_experts()"));
    CHECK_ERROR(jitgemm_run_experts(NULL, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "plan");
    CHECK_ERROR(jitgemm_run_experts(plan, NULL, NULL), JITGEMM_E_ARGUMENT,
                "arguments");
    arguments.size -= 8;
    CHECK_ERROR(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_E_VERSION,
                "arguments");
    CHECK_ERROR(jitgemm_plan_workspace(NULL, &bytes), JITGEMM_E_ARGUMENT,
                "plan");
    CHECK_ERROR(jitgemm_plan_workspace(plan, NULL), JITGEMM_E_ARGUMENT,
                "bytes");
    CHECK_INT(jitgemm_plan_create(context, &problem, &other), JITGEMM_OK);
    CHECK_ERROR(jitgemm_plan_workspace(other, &bytes), JITGEMM_E_ARGUMENT,
                "plan");
    arguments = good();
    CHECK_ERROR(jitgemm_run_experts(other, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "plan");
    CHECK(strstr(jitgemm_last_error()->text, "jitgemm_run()"));
    jitgemm_plan_destroy(other);
}

/* Counts may be absent; scales of one's own; nothing to do. */
static void test_kinds(void)
{
    jitgemm_problem problem = good_problem();
    jitgemm_expert_arguments arguments;
    jitgemm_plan *plan = NULL;

    problem.layout = JITGEMM_ROWS_MASKED;
    problem.place = JITGEMM_PLACE_EXPLICIT;
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_workspace(plan, &bytes), JITGEMM_OK);
    SPOIL(scale_row, NULL, JITGEMM_E_ARGUMENT);
    arguments = good();
    arguments.rows = NULL;
    arguments.scale_row = (int32_t *)(void *)memory;
    arguments.scale_rows = 100;
    CHECK_ERROR(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_E_SHAPE,
                "arguments.scale_rows");
    arguments.scale_rows = 384;
    CHECK_INT(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_OK);
    jitgemm_plan_destroy(plan);

    problem = good_problem();
    problem.a_type = JITGEMM_INPUT_BF16;
    problem.place = JITGEMM_PLACE_CEIL;
    CHECK_ERROR(jitgemm_plan_create(context, &problem, &plan),
                JITGEMM_E_ARGUMENT, "problem.place");
    problem.place = JITGEMM_PLACE_TIGHT;
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_workspace(plan, &bytes), JITGEMM_OK);
    SPOIL(sfa, memory, JITGEMM_E_ARGUMENT);
    arguments.sfa = NULL;
    CHECK_INT(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_OK);
    jitgemm_plan_destroy(plan);

    problem.b_type = JITGEMM_WEIGHTS_MXFP4; /* half as many scales */
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_workspace(plan, &bytes), JITGEMM_OK);
    arguments.stride_sfb = (int64_t)jitgemm_scale_bytes(n, k / 2);
    CHECK_INT(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_OK);
    arguments.stride_sfb -= 16;
    CHECK_ERROR(jitgemm_run_experts(plan, &arguments, NULL),
                JITGEMM_E_ARGUMENT, "arguments.stride_sfb");
    jitgemm_plan_destroy(plan);

    problem = good_problem();
    problem.max_rows = problem.hint_rows = 0;
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_workspace(plan, &bytes), JITGEMM_OK);
    arguments = good();
    fakes.cuda->grid = 0;
    CHECK_INT(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_OK);
    CHECK_INT(fakes.cuda->grid, 0);
    jitgemm_plan_destroy(plan);
}

/* ---- Kernels ----------------------------------------------------------- */

/* The i-th kernel of a problem has these words in its name; NULL: there is
 * none. */
static void check_kernel(const jitgemm_problem *problem, int32_t i,
                         const char *words)
{
    jitgemm_kernel kernel = {.size = sizeof kernel};

    CHECK_INT(jitgemm_problem_kernel(context, problem, i, &kernel),
              words ? JITGEMM_OK : JITGEMM_E_NOT_FOUND);
    CHECK(!words || strstr(kernel.name, words));
}

/* Of many groups, that of the table comes before those of the product; of few
 * there is none. */
static void test_kernels(void)
{
    jitgemm_problem problem = good_problem();

    problem.max_rows = 100000;
    problem.groups = 257;
    problem.hint_rows = 0; /* as many, that is */
    check_kernel(&problem, 0, "experts stacked, tight, 1 maps");
    check_kernel(&problem, 1, "sm90_activations 128, nvfp4");
    check_kernel(&problem, 2, "sm90_nvfp4");
    check_kernel(&problem, 3, NULL);
    problem.hint_rows = 2;
    check_kernel(&problem, 0, "experts stacked, tight, 1 maps");
    check_kernel(&problem, 1, "fused");
    check_kernel(&problem, 2, NULL);
    CHECK_INT(jitgemm_problem_ready(context, &problem), JITGEMM_E_NOT_READY);
    CHECK(strstr(jitgemm_last_error()->text,
                 "257@100000/2x264x1056:stacked:tight") != NULL);
    problem.groups = 256;
    check_kernel(&problem, 0, "fused, own table");
    check_kernel(&problem, 1, NULL);
    problem.hint_rows = 0;
    check_kernel(&problem, 0, "sm90_activations 128, nvfp4, own table");
    check_kernel(&problem, 1, ", own table");
    check_kernel(&problem, 2, NULL);
}

int main(void)
{
    jitgemm_problem problem = good_problem();
    jitgemm_plan *plan = NULL;

    fakes = fakes_open();
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    test_kernels();
    test_problems();
    test_host_problems();
    test_workspace();
    problem.max_rows = 100000; /* a workspace for activations */
    problem.hint_rows = 0;
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_workspace(plan, &bytes), JITGEMM_OK);
    test_pointers(plan);
    test_strides(plan);
    test_calls(plan);
    jitgemm_plan_destroy(plan);
    test_kinds();
    jitgemm_context_destroy(context);
    fakes_close(&fakes);
    return test_end();
}
