/* SPDX-License-Identifier: MIT */
/* The public functions' rules on arguments, on a fake driver. What they do is
 * tested on the emulated one: e_api.c. */
#include "jitgemm.h"

#include <cuda.h>
#include <errno.h>
#include <stdlib.h>

#include "fake/fakes.h"
#include "test.h"

#define GROUPS 3

static struct fakes fakes;

/* A good problem and good operands, for tests to spoil. */
struct setup {
    int64_t m[GROUPS], n[GROUPS], k[GROUPS];
    const void *a[GROUPS], *sfa[GROUPS], *b[GROUPS], *sfb[GROUPS];
    void *c[GROUPS];
    const float *alpha[GROUPS];
    jitgemm_problem problem;
    jitgemm_operands operands;
};

static void set_up(struct setup *s)
{
    static _Alignas(16) unsigned char memory[16];

    memset(s, 0, sizeof *s);
    for (int g = 0; g < GROUPS; g++) {
        s->m[g] = g == 1 ? 0 : 2000; /* the middle group is empty */
        s->n[g] = 4096; /* so much takes two kernels */
        s->k[g] = 256;
        if (g == 1)
            continue;
        s->a[g] = s->sfa[g] = s->b[g] = s->sfb[g] = s->c[g] = memory;
    }
    s->problem = (jitgemm_problem){.size = sizeof s->problem,
                                   .groups = GROUPS,
                                   .m = s->m,
                                   .n = s->n,
                                   .k = s->k};
    s->operands = (jitgemm_operands){.size = sizeof s->operands,
                                     .a = s->a,
                                     .sfa = s->sfa,
                                     .b = s->b,
                                     .sfb = s->sfb,
                                     .c = s->c,
                                     .alpha = s->alpha};
}

/* The last error is this status about this argument and group, and its text
 * names the argument. */
#define CHECK_ERROR(call, status_, argument_, group_)                         \
    do {                                                                      \
        CHECK_INT(call, status_);                                             \
        CHECK_INT(jitgemm_last_error()->status, status_);                     \
        CHECK_STR(jitgemm_last_error()->argument, argument_);                 \
        CHECK_INT(jitgemm_last_error()->group, group_);                       \
        CHECK(strstr(jitgemm_last_error()->text, argument_) != NULL);         \
    } while (0)

static void test_problem(jitgemm_context *context)
{
    struct setup s;
    jitgemm_plan *plan = NULL;
    static const struct {
        char size;
        int64_t value;
    } bad[] = {{'m', -1},     {'m', (int64_t)1 << 31}, {'n', 0},
               {'n', -8},     {'n', 12},               {'n', INT64_MAX},
               {'k', 0},      {'k', -32},              {'k', 48},
               {'k', INT64_MIN}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char name[] = "problem.?";

        set_up(&s);
        name[8] = bad[i].size;
        (bad[i].size == 'm' ? s.m : bad[i].size == 'n' ? s.n : s.k)[2] =
            bad[i].value;
        CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                    JITGEMM_E_SHAPE, name, 2);
        CHECK(jitgemm_last_error()->got == bad[i].value);
    }
    set_up(&s); /* products */
    s.m[0] = s.n[0] = ((int64_t)1 << 31) - 8;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_SHAPE, "problem.m", 0);
    s.n[0] = 8; /* C fits, the workspace does not */
    s.k[0] = ((int64_t)1 << 31) - 32;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_SHAPE, "problem.groups", 0);

    set_up(&s);
    s.problem.groups = 0;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_ARGUMENT, "problem.groups", -1);
    s.problem.groups = 65537;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_ARGUMENT, "problem.groups", -1);
    set_up(&s);
    s.problem.batch = 2;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_ARGUMENT, "problem.batch", -1);
    set_up(&s);
    s.problem.flags = 1u << 30;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_ARGUMENT, "problem.flags", -1);
    CHECK(strstr(jitgemm_last_error()->text, "ZERO_TAIL (8)") != NULL);
    s.problem.flags = JITGEMM_ZERO_TAIL;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_ARGUMENT, "problem.flags", -1);
    CHECK(strstr(jitgemm_last_error()->text, "JITGEMM_SIZES_DEVICE") != NULL);
    set_up(&s);
    s.problem.n = NULL;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_ARGUMENT, "problem.n", -1);
    CHECK_ERROR(jitgemm_plan_create(context, NULL, &plan),
                JITGEMM_E_ARGUMENT, "problem", -1);
    CHECK_ERROR(jitgemm_plan_create(NULL, &s.problem, &plan),
                JITGEMM_E_ARGUMENT, "context", -1);
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, NULL),
                JITGEMM_E_ARGUMENT, "plan", -1);
    CHECK(plan == NULL);
}

/* Strides are those of all groups, so the longest row decides. */
static void test_rows(jitgemm_context *context)
{
    const char *text = jitgemm_last_error()->text;
    struct setup s;
    jitgemm_plan *plan = NULL;

    set_up(&s);
    s.k[2] = 288;
    s.n[1] = 4104;
    s.problem.row_a = 128;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_SHAPE, "problem.row_a", 2);
    CHECK(strstr(text, "is 128; it must be 0 or at least 144 bytes") != NULL);
    s.problem.row_a = 152;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_SHAPE, "problem.row_a", -1);
    CHECK(strstr(text, "is 152; it must be a multiple of 16 bytes") != NULL);
    s.problem.row_a = 144;
    s.problem.row_c = 8192;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_SHAPE, "problem.row_c", 1);
    CHECK(strstr(text, "is 8192; it must be 0 or at least 8208") != NULL);
    CHECK(plan == NULL);
    s.problem.row_c = ((int64_t)1 << 31) - 16;
    CHECK_INT(jitgemm_plan_create(context, &s.problem, &plan), JITGEMM_OK);
    jitgemm_plan_destroy(plan);
}

static void test_struct_sizes(jitgemm_context *context)
{
    struct setup s;
    struct {
        jitgemm_problem known;
        int64_t newer;
    } grown;
    jitgemm_plan *plan = NULL;

    set_up(&s);
    s.problem.size = 8;
    CHECK_ERROR(jitgemm_plan_create(context, &s.problem, &plan),
                JITGEMM_E_VERSION, "problem", -1);
    set_up(&s);
    grown.known = s.problem;
    grown.known.size = sizeof grown;
    grown.newer = 1;
    CHECK_ERROR(jitgemm_plan_create(context, &grown.known, &plan),
                JITGEMM_E_VERSION, "problem", -1);
    grown.newer = 0; /* a newer caller who asks for nothing new */
    CHECK_INT(jitgemm_plan_create(context, &grown.known, &plan), JITGEMM_OK);
    jitgemm_plan_destroy(plan);
}

static void test_operands(jitgemm_plan *plan)
{
    struct setup s;
    static const char *const names[] = {"operands.a", "operands.sfa",
                                        "operands.b", "operands.sfb",
                                        "operands.c"};

    CHECK_INT(jitgemm_run(plan, NULL), JITGEMM_E_NOT_READY);
    for (int i = 0; i < 5; i++) {
        set_up(&s);
        const void **array = i == 0   ? s.a
                             : i == 1 ? s.sfa
                             : i == 2 ? s.b
                             : i == 3 ? s.sfb
                                      : (const void **)s.c;
        array[2] = (const char *)array[2] + 8;
        CHECK_ERROR(jitgemm_plan_bind(plan, &s.operands, NULL),
                    JITGEMM_E_ALIGN, names[i], 2);
        array[2] = NULL;
        CHECK_ERROR(jitgemm_plan_bind(plan, &s.operands, NULL),
                    JITGEMM_E_ARGUMENT, names[i], 2);
    }
    set_up(&s);
    s.alpha[0] = (const float *)((const char *)s.a[0] + 2);
    CHECK_ERROR(jitgemm_plan_bind(plan, &s.operands, NULL), JITGEMM_E_ALIGN,
                "operands.alpha", 0);
    set_up(&s);
    s.operands.sfb = NULL;
    CHECK_ERROR(jitgemm_plan_bind(plan, &s.operands, NULL),
                JITGEMM_E_ARGUMENT, "operands.sfb", -1);
    s.operands.flags = 4;
    CHECK_ERROR(jitgemm_plan_bind(plan, &s.operands, NULL),
                JITGEMM_E_ARGUMENT, "operands.flags", -1);
    CHECK_ERROR(jitgemm_plan_bind(NULL, &s.operands, NULL),
                JITGEMM_E_ARGUMENT, "plan", -1);
    CHECK_ERROR(jitgemm_run(NULL, NULL), JITGEMM_E_ARGUMENT, "plan", -1);
    CHECK_INT(jitgemm_run(plan, NULL), JITGEMM_E_NOT_READY);
}

static void test_kernels(jitgemm_context *context, jitgemm_plan *plan)
{
    struct setup s;
    jitgemm_kernel kernel = {.size = sizeof kernel}, again = kernel;

    set_up(&s);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(jitgemm_problem_kernel(context, &s.problem, i, &kernel),
                  JITGEMM_OK);
        CHECK_INT(kernel.source, JITGEMM_SOURCE_NONE);
        CHECK_INT(strlen(kernel.key), 32);
        CHECK_STR(kernel.arch, "sm_90a");
        CHECK_INT(jitgemm_plan_kernel(plan, i, &again), JITGEMM_OK);
        CHECK_STR(again.key, kernel.key);
        CHECK_INT(again.registers, 40);
        CHECK_INT(jitgemm_prepare(context, &s.problem, i, &again),
                  JITGEMM_OK);
        CHECK_INT(again.source, JITGEMM_SOURCE_MEMORY);
    }
    CHECK_ERROR(jitgemm_problem_kernel(context, &s.problem, 2, &kernel),
                JITGEMM_E_NOT_FOUND, "index", -1);
    CHECK_ERROR(jitgemm_plan_kernel(plan, -1, &kernel), JITGEMM_E_NOT_FOUND,
                "index", -1);
    kernel.size = 4;
    CHECK_ERROR(jitgemm_plan_kernel(plan, 0, &kernel), JITGEMM_E_VERSION,
                "kernel", -1);
    CHECK_ERROR(jitgemm_plan_kernel(plan, 0, NULL), JITGEMM_E_ARGUMENT,
                "kernel", -1);
}

/* Each driver call of context, plan and binding fails in turn, for the
 * sanitizer that finds leaks of the host's memory; e_api.c has the rest. */
static void test_every_failure(void)
{
    static const char *const calls[] = {
        "cuDeviceGet", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
        "cuCtxGetCurrent", "cuCtxPushCurrent", "cuLibraryLoadData",
        "cuLibraryGetKernel", "cuKernelGetFunction", "cuFuncSetAttribute",
        "cuMemAlloc", "cuTensorMapEncodeTiled", "cuStreamIsCapturing",
        "cuMemcpyHtoDAsync"};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (int failing = 1; failing >= 0; failing--) {
            struct setup s;
            jitgemm_context *context = NULL;
            jitgemm_plan *plan = NULL;
            jitgemm_status status;

            set_up(&s);
            fakes.cuda->fail = failing ? calls[i] : NULL;
            fakes.cuda->fail_after = 0;
            fakes.cuda->fail_result = CUDA_ERROR_OUT_OF_MEMORY;
            status = jitgemm_context_create(NULL, &context);
            if (status == JITGEMM_OK)
                status = jitgemm_plan_create(context, &s.problem, &plan);
            if (status == JITGEMM_OK)
                status = jitgemm_plan_bind(plan, &s.operands, NULL);
            CHECK_INT(status, failing ? JITGEMM_E_MEMORY : JITGEMM_OK);
            fakes.cuda->fail = NULL;
            jitgemm_plan_destroy(plan);
            jitgemm_context_destroy(context);
            CHECK_INT(fakes.cuda->loads, 0);
        }
    }
}

static void test_prune(jitgemm_context *context)
{
    jitgemm_pruned pruned = {.size = sizeof pruned};

    CHECK_ERROR(jitgemm_cache_prune(NULL, 0, 0, &pruned), JITGEMM_E_ARGUMENT,
                "context", -1);
    CHECK_ERROR(jitgemm_cache_prune(context, 0, 0, NULL), JITGEMM_E_ARGUMENT,
                "pruned", -1);
    CHECK_ERROR(jitgemm_cache_prune(context, 0, 2, &pruned),
                JITGEMM_E_ARGUMENT, "flags", -1);
    pruned.size--;
    CHECK_ERROR(jitgemm_cache_prune(context, 0, 0, &pruned),
                JITGEMM_E_VERSION, "pruned", -1);
    pruned.size++;
    CHECK_INT(jitgemm_cache_prune(context, 0, JITGEMM_PRUNE_DRY_RUN, &pruned),
              JITGEMM_OK);
    CHECK(pruned.entries > 0 && pruned.removed == pruned.entries);
    CHECK(pruned.bytes > 0 && pruned.removed_bytes == pruned.bytes);
    CHECK_INT(pruned.size, sizeof pruned);
    CHECK_INT(jitgemm_cache_prune(context, JITGEMM_PRUNE_TO_LIMIT, 0, &pruned),
              JITGEMM_OK);
    CHECK(pruned.entries > 0 && pruned.removed == 0);
    CHECK_INT(jitgemm_cache_prune(context, 0, 0, &pruned), JITGEMM_OK);
    CHECK(pruned.removed > 0);
    CHECK_INT(jitgemm_cache_prune(context, 0, 0, &pruned), JITGEMM_OK);
    CHECK_INT(pruned.entries, 0);
}

static void test_contexts(void)
{
    jitgemm_context_options options = {.size = sizeof options};
    jitgemm_pruned pruned = {.size = sizeof pruned};
    jitgemm_context *context = NULL;
    jitgemm_plan *plan = NULL;
    struct setup s;

    set_up(&s);
    options.device = 1;
    CHECK_INT(jitgemm_context_create(&options, &context),
              JITGEMM_E_NO_DEVICE);
    CHECK_STR(jitgemm_last_error()->argument, "options.device");
    options.device = JITGEMM_CURRENT_CONTEXT;
    CHECK_ERROR(jitgemm_context_create(&options, &context),
                JITGEMM_E_ARGUMENT, "options.device", -1);
    options.device = -2;
    CHECK_ERROR(jitgemm_context_create(&options, &context),
                JITGEMM_E_ARGUMENT, "options.device", -1);
    options.device = 0;
    options.flags = 1;
    CHECK_ERROR(jitgemm_context_create(&options, &context),
                JITGEMM_E_ARGUMENT, "options.flags", -1);
    CHECK_ERROR(jitgemm_context_create(NULL, NULL), JITGEMM_E_ARGUMENT,
                "context", -1);
    options.flags = 0;
    options.arch = "sm_42";
    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_E_ARCH);
    CHECK(strstr(jitgemm_last_error()->text, "sm_42") != NULL);
    CHECK(strstr(jitgemm_last_error()->text, "sm_90a") != NULL);
    fakes.cuda->major = 8;
    options.arch = NULL;
    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_E_ARCH);
    CHECK(strstr(jitgemm_last_error()->text, "sm_80") != NULL);
    fakes.cuda->major = 9;
    CHECK(context == NULL);

    options.arch = "sm_90a";
    options.cache_dir = "";
    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    CHECK_INT(jitgemm_cache_prune(context, 0, 0, &pruned),
              JITGEMM_E_NOT_FOUND);
    CHECK_INT(jitgemm_last_error()->system, ENOENT);
    CHECK_INT(jitgemm_plan_create(context, &s.problem, &plan),
              JITGEMM_E_NO_DEVICE);
    jitgemm_context_destroy(context);
    jitgemm_context_destroy(NULL);
    jitgemm_plan_destroy(NULL);
}

int main(void)
{
    struct setup s;
    jitgemm_context *context = NULL;
    jitgemm_plan *plan = NULL;

    fakes = fakes_open();
    CHECK_INT(jitgemm_version(), 100);
    test_contexts();
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    set_up(&s);
    test_problem(context);
    test_rows(context);
    test_struct_sizes(context);
    CHECK_INT(jitgemm_plan_create(context, &s.problem, &plan), JITGEMM_OK);
    test_operands(plan);
    test_kernels(context, plan);
    test_prune(context);
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
    test_every_failure();
    fakes_close(&fakes);
    return test_end();
}
