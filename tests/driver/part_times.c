/* SPDX-License-Identifier: MIT */
/* What loading costs, call by call, with the function's attribute set, which
 * makes a lazy driver load it, and without; and what is left to the first run
 * of a plan whose kernels were prepared. */
#include <stdlib.h>

#include "clock.h"
#include "compile.h"
#include "gpu.h"
#include "hold.h"
#include "launch.h"
#include "nvrtc_kernel.h"
#include "parts.h"
#include "product.h"
#include "test.h"

enum { ROUNDS = 10, FIRST_RUN_US = 500 };

enum { LOAD, KERNEL, FUNCTION, ATTRIBUTE, LAUNCH, AGAIN, STEPS };

struct load_case {
    const char *name, *symbol;
    const void *cubin;
    int attribute; /* bytes of shared memory; -1: not set */
    CUresult (*launch)(CUfunction function, const void *data);
    const void *data;
};

static const struct jg_cuda *cuda;
static double start_us;

static void start(void)
{
    start_us = jg_clock_ms() * 1e3;
}

static double stop(CUresult result, const char *what)
{
    double us = jg_clock_ms() * 1e3 - start_us;

    gpu_check(result, what);
    return us;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Sorts them. */
static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* ---- Call by call ------------------------------------------------------ */

static CUresult set_attribute(CUfunction function, int value)
{
    return value < 0 ? CUDA_SUCCESS
                     : cuda->cuFuncSetAttribute(
                           function,
                           CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           value);
}

static void measure_round(const struct load_case *c, int round,
                          double times[STEPS][ROUNDS])
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;

    start();
    times[LOAD][round] =
        stop(cuda->cuLibraryLoadData(&library, c->cubin, NULL, NULL, 0, NULL,
                                     NULL, 0),
             "cuLibraryLoadData");
    start();
    times[KERNEL][round] =
        stop(cuda->cuLibraryGetKernel(&kernel, library, c->symbol),
             "cuLibraryGetKernel");
    start();
    times[FUNCTION][round] =
        stop(cuda->cuKernelGetFunction(&function, kernel),
             "cuKernelGetFunction");
    start();
    times[ATTRIBUTE][round] =
        stop(set_attribute(function, c->attribute), "cuFuncSetAttribute");
    for (int i = LAUNCH; i <= AGAIN; i++) {
        start();
        times[i][round] = stop(c->launch(function, c->data), "a launch");
        gpu_sync();
    }
    gpu_check(cuda->cuLibraryUnload(library), "cuLibraryUnload");
}

/* The first round apart: it may be the first of the process. */
static void measure(const struct load_case *c)
{
    double times[STEPS][ROUNDS];

    for (int round = 0; round < ROUNDS; round++)
        measure_round(c, round, times);
    printf("%-28s", c->name);
    for (int i = 0; i < STEPS; i++)
        printf(" %9.1f", median(times[i] + 1, ROUNDS - 1));
    printf("\n%28s", "first time");
    for (int i = 0; i < STEPS; i++)
        printf(" %9.1f", times[i][0]);
    printf("\n");
}

static CUresult launch_hold(CUfunction function, const void *data)
{
    return hold_launch(cuda, function, gpu.stream,
                       *(const struct hold_job *)data);
}

/* The last kernel of a plan, alone: what it reads is there. */
static CUresult launch_product(CUfunction function, const void *data)
{
    const jitgemm_plan *plan = data;
    int last = plan->kernels - 1;
    struct jg_table table = plan->table;
    void *parameters[] = {&table};
    CUlaunchAttribute cluster = {
        .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.clusterDim = {plan->launches[last].cluster, 1, 1}};
    CUlaunchConfig config = {
        .gridDimX = plan->launches[last].blocks,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = plan->launches[last].threads,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = plan->launches[last].shared_bytes,
        .hStream = gpu.stream,
        .attrs = &cluster,
        .numAttrs = plan->launches[last].cluster != 0};

    return cuda->cuLaunchKernelEx(&config, function, parameters, NULL);
}

static void measure_hold(const struct facts *facts)
{
    struct hold_job job = {.out =
                               gpu_alloc(HOLD_THREADS * sizeof(unsigned))};
    void *cubin = hold_cubin_for(facts->major, facts->minor);
    struct load_case c = {"small, no attribute", HOLD_SYMBOL, cubin, -1,
                          launch_hold,           &job};

    measure(&c);
    c.name = "small";
    c.attribute = 0;
    measure(&c);
    gpu_free(job.out);
    free(cubin);
}

static void measure_product(const jitgemm_plan *plan)
{
    struct jg_compiled made = {.ms = 0};
    const struct jg_nvrtc *nvrtc;
    struct jg_spec spec;

    jg_spec_make(&plan->config, &plan->context->device, plan->kernels - 1,
                 &spec);
    JITGEMM(jg_compiler_open(0, &nvrtc));
    JITGEMM(jg_compile(nvrtc, &spec, &made));
    measure(&(struct load_case){spec.name, spec.symbol, made.cubin.data,
                                spec.shared_bytes, launch_product, plan});
    jg_compiled_free(&made);
}

/* ---- Through the library ----------------------------------------------- */

/* A context of its own loads the kernels afresh. */
static jitgemm_plan *prepare(const struct product *p,
                             jitgemm_context **context)
{
    jitgemm_problem problem = product_problem(p);
    jitgemm_kernel kernel = {.size = sizeof kernel};
    jitgemm_status status = JITGEMM_OK;

    JITGEMM(jitgemm_context_create(NULL, context));
    for (int i = 0; status == JITGEMM_OK; i++)
        status = jitgemm_prepare(*context, &problem, i, &kernel);
    CHECK_INT(status, JITGEMM_E_NOT_FOUND);
    return product_plan(p, *context, NULL);
}

static void measure_runs(const struct facts *facts, const struct product *p)
{
    double runs[2][ROUNDS], first_time, us;

    for (int round = 0; round < ROUNDS; round++) {
        jitgemm_context *context;
        jitgemm_plan *plan = prepare(p, &context);

        gpu_sync();
        for (int i = 0; i < 2; i++) {
            start();
            JITGEMM(jitgemm_run(plan, gpu.stream));
            runs[i][round] = stop(CUDA_SUCCESS, "");
            gpu_sync();
        }
        jitgemm_plan_destroy(plan);
        jitgemm_context_destroy(context);
    }
    first_time = runs[0][0];
    us = median(runs[0], ROUNDS);
    printf("a prepared plan: first run %.1f (%.1f to %.1f, first time %.1f), "
           "second %.1f\n",
           us, runs[0][0], runs[0][ROUNDS - 1], first_time,
           median(runs[1], ROUNDS));
    if (!facts->emulated) /* where a launch may begin to work */
        CHECK(us < FIRST_RUN_US);
}

int part_times(const struct facts *facts)
{
    static const int64_t m[] = {8, 3}, n[] = {128, 128}, k[] = {256, 128};
    struct product product;
    jitgemm_context *context;
    jitgemm_plan *plan;

    if (!gpu_open() || !nvrtc_kernel_open())
        return TEST_SKIP;
    cuda = nvrtc_kernel_cuda;
    printf("%s: us, median of %d fresh libraries\n"
           "%28s %9s %9s %9s %9s %9s %9s\n",
           facts->loading, ROUNDS - 1, "", "load", "kernel", "function",
           "attribute", "launch", "second");
    measure_hold(facts);
    product_make(&product, 2, m, n, k, REF_FULL, false, 1);
    plan = prepare(&product, &context);
    measure_product(plan);
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
    measure_runs(facts, &product);
    product_free(&product);
    return test_end();
}
