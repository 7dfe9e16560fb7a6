/* SPDX-License-Identifier: MIT */
/* Nothing is compiled after jitgemm_freeze(), and who asks for a compile is
 * told what for. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "jitgemm.h"

#include <pthread.h>
#include <stdlib.h>

#include "fake/fakes.h"
#include "problem.h"
#include "test.h"

#define THREADS 8

static struct fakes fakes;
static int64_t m[] = {2000, 0, 2000}, n[] = {4096, 4096, 4096};
static int64_t k[] = {256, 256, 256}; /* takes two kernels */
static int64_t small_m[] = {8, 8, 8};
static jitgemm_problem big = {.size = sizeof big, .groups = 3,
                              .m = m, .n = n, .k = k, .c_type = JITGEMM_F16};
static jitgemm_problem small = {.size = sizeof small,
                                .groups = 3,
                                .m = small_m,
                                .n = n,
                                .k = k,
                                .c_type = JITGEMM_F16};
static jitgemm_kernel kernel = {.size = sizeof kernel};

static jitgemm_context *new_context(void)
{
    jitgemm_context *context = NULL;

    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    return context;
}

static jitgemm_status make_plan(jitgemm_context *context,
                                const jitgemm_problem *problem)
{
    jitgemm_plan *plan = NULL;
    jitgemm_status status = jitgemm_plan_create(context, problem, &plan);

    jitgemm_plan_destroy(plan);
    return status;
}

/* The error names kernel, key and problem. */
static void check_frozen(jitgemm_context *context)
{
    const char *text = jitgemm_last_error()->text;

    CHECK_INT(jitgemm_last_error()->status, JITGEMM_E_FROZEN);
    CHECK_INT(jitgemm_problem_kernel(context, &small, 0, &kernel), JITGEMM_OK);
    CHECK(strstr(text, kernel.name) != NULL);
    CHECK(strstr(text, kernel.key) != NULL);
    CHECK(strstr(text, "sm_90a") != NULL);
    CHECK(strstr(text, "8,8,8x4096x256") != NULL);
}

static void test_freeze(void)
{
    jitgemm_context *context = new_context(), *other = new_context();
    int compiles;

    CHECK_INT(make_plan(context, &big), JITGEMM_OK);
    CHECK_INT(fakes.nvrtc->compiles, 2);
    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    CHECK_INT(make_plan(context, &big), JITGEMM_OK);
    CHECK_INT(make_plan(context, &small), JITGEMM_E_FROZEN);
    check_frozen(context);
    CHECK_INT(jitgemm_prepare(context, &small, 0, &kernel), JITGEMM_E_FROZEN);
    check_frozen(context);
    compiles = fakes.nvrtc->compiles;
    CHECK_INT(compiles, 2);

    /* What another context compiles the frozen one may use. */
    CHECK_INT(make_plan(other, &small), JITGEMM_OK);
    CHECK(fakes.nvrtc->compiles > compiles);
    CHECK_INT(make_plan(context, &small), JITGEMM_OK);
    jitgemm_context_destroy(context);
    jitgemm_context_destroy(other);
    CHECK_INT(jitgemm_freeze(NULL), JITGEMM_E_ARGUMENT);
    CHECK_STR(jitgemm_last_error()->argument, "context");
}

/* With nothing in memory, the cache on disk still serves. */
static void test_strict(void)
{
    jitgemm_context_options nowhere = {.size = sizeof nowhere,
                                       .cache_dir = ""};
    jitgemm_context *context;
    int compiles = fakes.nvrtc->compiles;

    setenv("JITGEMM_MODE", "strict", 1);
    context = new_context();
    CHECK_INT(make_plan(context, &small), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare(context, &big, 0, &kernel), JITGEMM_OK);
    CHECK_INT(kernel.source, JITGEMM_SOURCE_DISK);
    jitgemm_context_destroy(context);
    CHECK_INT(jitgemm_context_create(&nowhere, &context), JITGEMM_OK);
    CHECK_INT(make_plan(context, &small), JITGEMM_E_FROZEN);
    check_frozen(context);
    jitgemm_context_destroy(context);
    setenv("JITGEMM_MODE", "readwrite", 1);
    CHECK_INT(jitgemm_context_create(&nowhere, &context), JITGEMM_OK);
    CHECK_INT(make_plan(context, &small), JITGEMM_OK);
    jitgemm_context_destroy(context);
    CHECK(fakes.nvrtc->compiles > compiles);
    unsetenv("JITGEMM_MODE");
}

/* Once one thread has frozen the context, no thread's call compiles. */
static void *ask(void *data)
{
    for (int i = 0; i < 20; i++) {
        jitgemm_status status = make_plan(data, i % 2 ? &big : &small);

        if (status != JITGEMM_OK && status != JITGEMM_E_FROZEN)
            return data;
    }
    return NULL;
}

static void test_threads(void)
{
    jitgemm_context_options nowhere = {.size = sizeof nowhere,
                                       .cache_dir = ""};
    pthread_t threads[THREADS];
    jitgemm_context *context = NULL;
    int begun;

    CHECK_INT(jitgemm_context_create(&nowhere, &context), JITGEMM_OK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask, context);
    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    begun = *(volatile int *)&fakes.nvrtc->begun;
    CHECK_INT(*(volatile int *)&fakes.nvrtc->compiles, begun);
    for (int i = 0; i < THREADS; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    CHECK_INT(fakes.nvrtc->begun, begun);
    jitgemm_context_destroy(context);
}

/* Texts of problems that have more to tell than there is room for. */
static void test_problem_text(void)
{
    enum { MANY = 65536 };
    struct jg_size *sizes = calloc(MANY, sizeof *sizes);
    struct jg_problem problem = {
        .groups = 2, .sizes = sizes, .output = JG_F16};
    static const char options[] =
        " groups) --a bf16 --c bf16 --split-k --row-a 2147483647 "
        "--row-c 2147483647 --accumulate --zero-tail";
    char text[JG_PROBLEM_TEXT];

    if (!sizes)
        return;
    for (int g = 0; g < MANY; g++)
        sizes[g] = (struct jg_size){INT32_MAX, INT32_MAX, INT32_MAX};
    sizes[1].m = 7;
    jg_problem_print(&problem, text);
    CHECK_STR(text, "2147483647,7x2147483647x2147483647");
    sizes[1].n = 8;
    jg_problem_print(&problem, text);
    CHECK_STR(text, "2147483647x2147483647x2147483647 7x8x2147483647");
    problem.groups = MANY;
    jg_problem_print(&problem, text);
    CHECK(strstr(text, " 7x8x2147483647 ") != NULL);
    CHECK(strstr(text, " ... (65536 groups)") != NULL);
    sizes[1] = sizes[0];
    jg_problem_print(&problem, text);
    CHECK(strstr(text, ",...x2147483647x2147483647 (65536 groups)") != NULL);
    problem.output = JG_BF16;
    problem.input = JG_IN_BF16;
    problem.split_k = problem.accumulate = problem.zero_tail = true;
    problem.row_a = problem.row_c = INT32_MAX;
    jg_problem_print(&problem, text);
    CHECK(strstr(text, options) != NULL);
    problem.weights = JG_W_MXFP4;
    sizes[1] = (struct jg_size){8, 8, 8}; /* the longest text there is */
    jg_problem_print(&problem, text);
    CHECK(strstr(text, " groups) --a bf16 --b mxfp4 --c bf16 --split-k"));
    problem = (struct jg_problem){.groups = 1,
                                  .sizes = sizes + 1,
                                  .output = JG_F32,
                                  .input = JG_IN_F16,
                                  .on_device = true,
                                  .layout = JG_MASKED,
                                  .max_rows = 9};
    jg_problem_print(&problem, text);
    CHECK_STR(text, "1@9/8x8x8:masked --a f16 --c f32");
    free(sizes);
}

int main(void)
{
    fakes = fakes_open();
    test_freeze();
    test_strict();
    test_threads();
    test_problem_text();
    fakes_close(&fakes);
    return test_end();
}
