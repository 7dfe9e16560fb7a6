/* SPDX-License-Identifier: MIT */
/* Plans on a GPU: graphs, rebinding, threads, foreign contexts, capture by
 * others, and what a run costs the host. "g_plan short" leaves out the last
 * and repeats less, for the emulated device. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "gpu.h"
#include "product.h"
#include "test.h"

static jitgemm_context *context;
static int repeats = 50; /* runs of a thread */
static const int64_t m[] = {40, 0, 129}, n[] = {256, 8, 136};
static const int64_t k[] = {512, 64, 288};

static void make(struct product *p, uint64_t seed)
{
    product_make(p, 3, m, n, k, REF_FULL, true, seed);
}

static jitgemm_plan *plan_of(const struct product *p)
{
    jitgemm_problem problem = product_problem(p);
    jitgemm_plan *plan;

    JITGEMM(jitgemm_plan_create(context, &problem, &plan));
    return plan;
}

static void bind(jitgemm_plan *plan, const struct product *p)
{
    jitgemm_operands operands = product_operands(p);

    JITGEMM(jitgemm_plan_bind(plan, &operands, gpu.stream));
}

static void check_product(const struct product *p)
{
    double worst;

    gpu_sync();
    CHECK_INT(product_check(p, 0, false, &worst), 0);
}

/* A captured run replays, with new contents too. */
static void test_capture(void)
{
    struct product p, other;
    jitgemm_plan *plan;
    CUgraph graph;
    CUgraphExec exec;
    jitgemm_operands operands;

    make(&p, 1);
    make(&other, 2);
    plan = plan_of(&p);
    CHECK_INT(jitgemm_run(plan, gpu.stream), JITGEMM_E_NOT_READY);
    bind(plan, &p);
    GPU(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    operands = product_operands(&other);
    CHECK_INT(jitgemm_plan_bind(plan, &operands, gpu.stream),
              JITGEMM_E_NOT_READY);
    JITGEMM(jitgemm_run(plan, gpu.stream));
    JITGEMM(jitgemm_run(plan, gpu.stream));
    GPU(cuStreamEndCapture(gpu.stream, &graph));
    GPU(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        product_poison(&p);
        GPU(cuGraphLaunch(exec, gpu.stream));
        check_product(&p);
    }
    ref_operand_fill(&p.a[0], REF_FULL, 99);
    GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)p.device[0][0], p.a[0].values,
                     (size_t)(m[0] * k[0] / 2)));
    GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)p.device[1][0], p.a[0].scales,
                     p.a[0].scale_bytes));
    product_poison(&p);
    GPU(cuGraphLaunch(exec, gpu.stream));
    check_product(&p);
    jitgemm_plan_destroy(plan);
    product_free(&p);
    product_free(&other);
}

/* A plan can be made while another stream is captured in global mode. */
static void test_create_in_capture(void)
{
    struct product p;
    jitgemm_plan *plan;
    CUstream other;
    CUgraph graph;

    make(&p, 3);
    GPU(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    GPU(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL));
    plan = plan_of(&p);
    GPU(cuStreamEndCapture(other, &graph));
    bind(plan, &p);
    product_poison(&p);
    JITGEMM(jitgemm_run(plan, gpu.stream));
    check_product(&p);
    jitgemm_plan_destroy(plan);
    product_free(&p);
}

/* The same plan goes back and forth between two sets of operands. */
static void test_rebind(void)
{
    struct product p[2];
    jitgemm_plan *plan;

    make(&p[0], 4);
    make(&p[1], 5);
    plan = plan_of(&p[0]);
    for (int i = 0; i < 6; i++) {
        product_poison(&p[i % 2]);
        bind(plan, &p[i % 2]);
        bind(plan, &p[i % 2]);
        JITGEMM(jitgemm_run(plan, gpu.stream));
        if (i % 3 == 2)
            continue; /* back to back, without a wait between */
        check_product(&p[i % 2]);
    }
    jitgemm_plan_destroy(plan);
    product_free(&p[0]);
    product_free(&p[1]);
}

/* Threads without any CUDA context run one plan on streams of their own. */
struct runner {
    const jitgemm_plan *plan;
    CUstream stream;
    int failures;
};

static void *run_often(void *data)
{
    struct runner *runner = data;
    CUcontext current = NULL;

    for (int i = 0; i < repeats; i++)
        runner->failures +=
            jitgemm_run(runner->plan, runner->stream) != JITGEMM_OK;
    GPU(cuCtxGetCurrent(&current));
    runner->failures += current != NULL;
    GPU(cuStreamSynchronize(runner->stream));
    return NULL;
}

static void test_threads(void)
{
    struct product p;
    jitgemm_plan *plan;
    struct runner runners[8];
    pthread_t threads[8];

    make(&p, 6);
    plan = plan_of(&p);
    bind(plan, &p);
    product_poison(&p);
    gpu_sync();
    for (int i = 0; i < 8; i++) {
        runners[i] = (struct runner){.plan = plan};
        GPU(cuStreamCreate(&runners[i].stream, CU_STREAM_NON_BLOCKING));
        pthread_create(&threads[i], NULL, run_often, &runners[i]);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(runners[i].failures, 0);
    }
    check_product(&p);
    jitgemm_plan_destroy(plan);
    product_free(&p);
}

static double now_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Host time of one run: the design allows 5 us. */
static void test_host_time(void)
{
    enum { RUNS = 2000 };
    static double times[RUNS];
    struct product p;
    jitgemm_plan *plan;

    make(&p, 7);
    plan = plan_of(&p);
    bind(plan, &p);
    for (int i = 0; i < RUNS; i++) {
        double start = now_us();

        JITGEMM(jitgemm_run(plan, gpu.stream));
        times[i] = now_us() - start;
        if (i % 20 == 19)
            gpu_sync(); /* the launch queue never fills */
    }
    qsort(times, RUNS, sizeof *times, compare);
    printf("host time of a run: median %.2f us, 90 %% %.2f us\n",
           times[RUNS / 2], times[RUNS * 9 / 10]);
    CHECK(times[RUNS / 2] < 20); /* no more than a sanity bound */
    jitgemm_plan_destroy(plan);
    product_free(&p);
}

int main(int count, char **arguments)
{
    bool short_ = count > 1 && strcmp(arguments[1], "short") == 0;

    if (short_)
        repeats = 1;
    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    test_capture();
    test_create_in_capture();
    test_rebind();
    test_threads();
    if (!short_)
        test_host_time();
    jitgemm_context_destroy(context);
    return test_end();
}
