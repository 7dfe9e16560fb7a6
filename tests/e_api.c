/* SPDX-License-Identifier: MIT */
/* The public functions on the emulated driver: what bind and run do and do
 * not do, and every driver call, and every allocation, failing in turn. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdlib.h>

#include "emu_calls.h"
#include "product.h"

#define GROUPS 3
static const int64_t m[GROUPS] = {8, 0, 3}; /* one is empty */
static const int64_t n[GROUPS] = {128, 128, 128};
static const int64_t k[GROUPS] = {4096, 256, 4096};

static struct product product;
static jitgemm_problem problem;
static jitgemm_operands operands;

/* How a plan gets from nothing to a result: the first error, or OK. */
struct cycle {
    jitgemm_context *context;
    jitgemm_plan *plan;
};

static jitgemm_status begin(struct cycle *c)
{
    jitgemm_status status = jitgemm_context_create(NULL, &c->context);

    if (status == JITGEMM_OK)
        status = jitgemm_plan_create(c->context, &problem, &c->plan);
    if (status == JITGEMM_OK)
        status = jitgemm_plan_bind(c->plan, &operands, gpu.stream);
    return status;
}

static void end(struct cycle *c)
{
    jitgemm_plan_destroy(c->plan);
    jitgemm_context_destroy(c->context);
    *c = (struct cycle){0};
}

/* ---- Binding and running ----------------------------------------------- */

static void test_bind(struct cycle *c, const struct product *other)
{
    jitgemm_operands others = product_operands(other);
    int uploads = knobs->uploads;
    CUgraph graph;

    JITGEMM(jitgemm_plan_bind(c->plan, &operands, gpu.stream));
    CHECK_INT(knobs->uploads, uploads); /* as they were */
    GPU(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    JITGEMM(jitgemm_plan_bind(c->plan, &operands, gpu.stream));
    CHECK_INT(jitgemm_plan_bind(c->plan, &others, gpu.stream),
              JITGEMM_E_NOT_READY);
    CHECK_STR(jitgemm_last_error()->argument, "stream");
    GPU(cuStreamEndCapture(gpu.stream, &graph)); /* which that did not break */
    CHECK_INT(knobs->uploads, uploads);
    others = operands;
    others.alpha = NULL; /* the same as an array of NULL */
    JITGEMM(jitgemm_plan_bind(c->plan, &others, gpu.stream));
    CHECK_INT(knobs->uploads, uploads);

    /* A failed upload leaves the old binding, and the next bind uploads. */
    others = product_operands(other);
    knobs->fail = "cuMemcpyHtoDAsync";
    knobs->fail_result = CUDA_ERROR_UNKNOWN;
    knobs->fail_after = 0;
    CHECK_INT(jitgemm_plan_bind(c->plan, &others, gpu.stream),
              JITGEMM_E_DRIVER);
    CHECK_INT(jitgemm_last_error()->cuda, CUDA_ERROR_UNKNOWN);
    knobs->fail = NULL;
    JITGEMM(jitgemm_plan_bind(c->plan, &others, gpu.stream));
    CHECK_INT(knobs->uploads, uploads + 1);
    JITGEMM(jitgemm_plan_bind(c->plan, &operands, gpu.stream));
    CHECK_INT(knobs->uploads, uploads + 2);
}

/* A run is two launches in the plan's context and nothing else. */
static void test_run(struct cycle *c)
{
    int calls = knobs->calls, allocations = knobs->allocations;
    int launches = knobs->launches, pushed = knobs->pushed;
    CUcontext current;
    double worst;

    product_poison(&product);
    calls = knobs->calls;
    JITGEMM(jitgemm_run(c->plan, gpu.stream));
    CHECK_INT(knobs->calls, calls + 3); /* get the context, 2 launches */
    CHECK_INT(knobs->lazy, 0);
    CHECK_INT(knobs->allocations, allocations);
    GPU(cuCtxSetCurrent(NULL));
    calls = knobs->calls;
    JITGEMM(jitgemm_run(c->plan, gpu.stream));
    CHECK_INT(knobs->calls, calls + 5); /* push and pop, too */
    knobs->fail = "cuLaunchKernelEx";
    knobs->fail_after = 1;
    CHECK_INT(jitgemm_run(c->plan, gpu.stream), JITGEMM_E_DRIVER);
    knobs->fail = NULL;
    GPU(cuCtxGetCurrent(&current));
    CHECK(current == NULL);
    CHECK_INT(knobs->pushed, pushed);
    GPU(cuCtxSetCurrent(gpu.context));
    gpu_sync();
    CHECK_INT(knobs->launches, launches + 5);
    CHECK_INT(product_check(&product, 0, false, &worst), 0);
}

/* No tokens at all: nothing to bind, nothing to launch. */
static void test_empty(jitgemm_context *context)
{
    int64_t none[GROUPS] = {0, 0, 0};
    void *nowhere[GROUPS] = {NULL, NULL, NULL};
    jitgemm_problem empty = problem;
    jitgemm_operands no_operands = operands;
    jitgemm_plan *plan;
    int launches;

    gpu_sync();
    launches = knobs->launches;
    empty.m = none;
    no_operands.a = (const void *const *)nowhere;
    no_operands.c = nowhere;
    JITGEMM(jitgemm_plan_create(context, &empty, &plan));
    JITGEMM(jitgemm_plan_bind(plan, &no_operands, gpu.stream));
    JITGEMM(jitgemm_run(plan, gpu.stream));
    gpu_sync();
    CHECK_INT(knobs->launches, launches);
    jitgemm_plan_destroy(plan);
}

/* ---- Failures ---------------------------------------------------------- */

/* What must be the same before and after. */
struct balance {
    int allocations, libraries, contexts, streams, events, pushed, retained;
    int leaked;
};

static struct balance balance(void)
{
    return (struct balance){
        knobs->allocations, knobs->libraries, knobs->contexts, knobs->streams,
        knobs->events,      knobs->pushed,    knobs->retained, knobs->leaked};
}

static void check_balance(struct balance before)
{
    struct balance after = balance();

    CHECK(memcmp(&before, &after, sizeof after) == 0);
}

/* The n-th call of that name fails from now on: an error with its code, that
 * names the call; nothing leaks; the next try succeeds. False if there are
 * not so many calls. */
static bool fail_at(const char *name, int n_th)
{
    struct balance before = balance();
    struct cycle c = {0};
    jitgemm_status status;
    bool failed;

    knobs->fail = name;
    knobs->fail_result = CUDA_ERROR_OUT_OF_MEMORY;
    knobs->fail_after = n_th;
    knobs->failed[0] = 0;
    status = begin(&c);
    if (status == JITGEMM_OK)
        status = jitgemm_run(c.plan, gpu.stream);
    knobs->fail = NULL;
    failed = knobs->failed[0] != 0;
    CHECK_INT(status, failed ? JITGEMM_E_MEMORY : JITGEMM_OK);
    if (failed) {
        const jitgemm_error *error = jitgemm_last_error();

        CHECK_INT(error->cuda, CUDA_ERROR_OUT_OF_MEMORY);
        if (!strstr(error->text, knobs->failed))
            fprintf(stderr, "%s failed: %s\n", knobs->failed, error->text);
        CHECK(strstr(error->text, knobs->failed) != NULL);
    }
    end(&c);
    check_balance(before);
    if (failed)
        CHECK_INT(begin(&c), JITGEMM_OK);
    end(&c);
    check_balance(before);
    return failed;
}

static void test_every_failure(void)
{
    static const char *const calls[] = {
        "cuDeviceGet",         "cuDeviceGetAttribute",
        "cuCtxGetCurrent",     "cuDevicePrimaryCtxRetain",
        "cuLibraryLoadData",   "cuLibraryGetKernel",
        "cuKernelGetFunction", "cuFuncSetAttribute",
        "cuMemAlloc",          "cuTensorMapEncodeTiled",
        "cuStreamIsCapturing", "cuMemcpyHtoDAsync",
        "cuLaunchKernelEx",    "cuCtxPushCurrent"};
    int count = 0;

    while (fail_at("allocation", count))
        count++;
    /* A context, 2 libraries, 2 functions twice, a plan's memory, 2 launches.
     */
    CHECK_INT(count, 10);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i], "cuCtxPushCurrent") == 0)
            GPU(cuCtxSetCurrent(NULL));
        for (count = 0; fail_at(calls[i], count) && count < 8; count++)
            ;
        CHECK(count > 0);
        GPU(cuCtxSetCurrent(gpu.context));
    }
}

int main(void)
{
    struct product other;
    struct cycle c = {0};

    setenv("JITGEMM_EMU_SEED", "4", 0); /* nothing happens before it must */
    if (!getenv("JITGEMM_LIBCUDA") || !emu_open())
        return TEST_SKIP;
    product_make(&product, GROUPS, m, n, k, REF_FULL, false, 1);
    product_make(&other, GROUPS, m, n, k, REF_FULL, false, 2);
    problem = product_problem(&product);
    problem.sm_limit = 1; /* so many tiles in turn take two kernels */
    operands = product_operands(&product);
    JITGEMM(begin(&c));
    test_bind(&c, &other);
    test_run(&c);
    test_empty(c.context);
    end(&c);
    test_every_failure();
    product_free(&product);
    product_free(&other);
    return test_end();
}
