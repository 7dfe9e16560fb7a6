/* SPDX-License-Identifier: MIT */
/* Making kernels ready, as the driver sees it: nothing is left for the first
 * launch, no capture is spoilt, and contexts share what they can. */
#include <pthread.h>
#include <stdlib.h>

#include "emu_calls.h"
#include "product.h"

#define GROUPS 2
static const int64_t m[GROUPS] = {8, 3}, n[GROUPS] = {128, 128};
static const int64_t k[GROUPS] = {4096, 4096};
static const int64_t short_k[GROUPS] = {128, 64}; /* one, which runs faster */

static struct product product, small;
static jitgemm_problem problem, small_problem;

static void prepare(jitgemm_context *context)
{
    jitgemm_kernel kernel = {.size = sizeof kernel};

    for (int i = 0; i < 2; i++)
        JITGEMM(jitgemm_prepare(context, &problem, i, &kernel));
    CHECK_INT(jitgemm_prepare(context, &problem, 2, &kernel),
              JITGEMM_E_NOT_FOUND);
}

static void run_and_check(jitgemm_plan *plan, const struct product *p,
                          CUstream stream)
{
    jitgemm_operands operands = product_operands(p);
    double worst;

    product_poison(p);
    JITGEMM(jitgemm_plan_bind(plan, &operands, stream));
    JITGEMM(jitgemm_run(plan, stream));
    GPU(cuStreamSynchronize(stream));
    CHECK_INT(product_check(p, 0, 0, &worst), 0);
}

/* ---- Nothing is left to do --------------------------------------------- */

/* After prepare, a plan loads nothing, and the first run of it only launches:
 * on the emulated driver a function counts as lazy until an attribute of it
 * was set, as it may be on a real one. */
static void test_eager(void)
{
    jitgemm_operands operands = product_operands(&product);
    jitgemm_context *context;
    jitgemm_plan *plan;
    int libraries = knobs->libraries, lazy = knobs->lazy, calls;

    JITGEMM(jitgemm_context_create(NULL, &context));
    prepare(context);
    CHECK_INT(knobs->libraries, libraries + 2);
    knobs->fail = "cuLibraryLoadData";
    knobs->fail_after = 0;
    JITGEMM(jitgemm_plan_create(context, &problem, &plan));
    knobs->fail = NULL;
    JITGEMM(jitgemm_plan_bind(plan, &operands, gpu.stream));
    calls = knobs->calls;
    JITGEMM(jitgemm_run(plan, gpu.stream));
    CHECK_INT(knobs->calls, calls + 3); /* get the context, 2 launches */
    CHECK_INT(knobs->lazy, lazy);
    gpu_sync();
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
    CHECK_INT(knobs->libraries, libraries);
}

/* ---- While a stream is captured ---------------------------------------- */

/* All that a library call may do to the driver but bind and run. */
static void *use_library(void *data)
{
    jitgemm_context *context;
    jitgemm_plan *plan;

    JITGEMM(jitgemm_context_create(NULL, &context));
    prepare(context);
    JITGEMM(jitgemm_plan_create(context, &problem, &plan));
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
    return data;
}

static void test_capture(void)
{
    static const CUstreamCaptureMode modes[] = {
        CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED};

    for (int i = 0; i < 6; i++) {
        CUstreamCaptureStatus status;
        CUstreamCaptureMode mode = modes[i / 2];
        CUgraph graph = NULL;
        pthread_t other;

        GPU(cuStreamBeginCapture(gpu.stream, mode));
        if (i % 2) {
            use_library(NULL);
        } else {
            pthread_create(&other, NULL, use_library, NULL);
            pthread_join(other, NULL);
        }
        EMU(cuStreamIsCapturing(gpu.stream, &status));
        CHECK_INT(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
        CHECK_INT(gpu.cuStreamEndCapture(gpu.stream, &graph), CUDA_SUCCESS);
        CHECK(graph != NULL);
        /* The thread's own mode is as it was. */
        mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
        EMU(cuThreadExchangeStreamCaptureMode(&mode));
        CHECK_INT(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    }
}

/* A driver that refuses even so: not ready, and nothing is remembered. */
static void test_refused(void)
{
    static const char *const calls[] = {"cuLibraryLoadData", "cuMemAlloc"};
    jitgemm_context *context;
    jitgemm_plan *plan = NULL;

    for (int i = 0; i < 2; i++) {
        JITGEMM(jitgemm_context_create(NULL, &context));
        knobs->fail = calls[i];
        knobs->fail_after = 0;
        knobs->fail_result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        CHECK_INT(jitgemm_plan_create(context, &problem, &plan),
                  JITGEMM_E_NOT_READY);
        CHECK_INT(jitgemm_last_error()->cuda,
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        knobs->fail = NULL;
        JITGEMM(jitgemm_plan_create(context, &problem, &plan));
        jitgemm_plan_destroy(plan);
        jitgemm_context_destroy(context);
    }
}

/* ---- Several contexts and devices -------------------------------------- */

/* One place to run in: a context of CUDA, ours, and a product there. */
struct place {
    CUcontext current;
    jitgemm_context *context;
    jitgemm_plan *plan;
    struct product product;
    CUstream stream;
};

static void open_place(struct place *p, int32_t device)
{
    jitgemm_context_options options = {.size = sizeof options,
                                       .device = device};

    if (device == JITGEMM_CURRENT_CONTEXT)
        p->current = emu_begin();
    else
        GPU(cuDevicePrimaryCtxRetain(&p->current, device));
    GPU(cuCtxSetCurrent(p->current));
    p->stream = emu_stream(CU_STREAM_NON_BLOCKING);
    p->product = small;
    product_upload(&p->product);
    JITGEMM(jitgemm_context_create(&options, &p->context));
    JITGEMM(jitgemm_plan_create(p->context, &small_problem, &p->plan));
}

static void close_place(struct place *p, int32_t device)
{
    jitgemm_plan_destroy(p->plan);
    jitgemm_context_destroy(p->context);
    GPU(cuCtxSetCurrent(p->current));
    product_release(&p->product);
    EMU(cuStreamDestroy(p->stream));
    if (device == JITGEMM_CURRENT_CONTEXT)
        emu_end(p->current);
    else
        EMU(cuDevicePrimaryCtxRelease(device));
    GPU(cuCtxSetCurrent(gpu.context));
}

/* Two devices and a context that is nobody's primary one: each kernel is
 * loaded once, each plan runs where it belongs, and whoever goes first takes
 * nothing from the others. */
static void test_places(void)
{
    static const int32_t devices[] = {0, 1, JITGEMM_CURRENT_CONTEXT};
    int libraries = knobs->libraries, contexts = knobs->contexts;
    struct place places[3];
    CUcontext current;

    knobs->devices = 2;
    for (int first = 0; first < 3; first++) {
        for (int i = 0; i < 3; i++)
            open_place(&places[i], devices[i]);
        CHECK(places[0].current != places[1].current);
        CHECK_INT(knobs->libraries, libraries + 1);
        for (int closed = 0; closed < 3; closed++) {
            for (int i = closed; i < 3; i++) {
                struct place *p = &places[(first + i) % 3];

                GPU(cuCtxSetCurrent(p->current));
                run_and_check(p->plan, &p->product, p->stream);
            }
            GPU(cuCtxSetCurrent(gpu.context));
            close_place(&places[(first + closed) % 3],
                        devices[(first + closed) % 3]);
        }
        CHECK_INT(knobs->libraries, libraries);
        CHECK_INT(knobs->contexts, contexts);
    }
    knobs->devices = 0;
    GPU(cuCtxGetCurrent(&current));
    CHECK(current == gpu.context);
    CHECK_INT(knobs->leaked, 0);
}

int main(void)
{
    if (!emu_open())
        return TEST_SKIP;
    product_make(&product, GROUPS, m, n, k, REF_FULL, false, 1);
    product_make(&small, GROUPS, m, n, short_k, REF_FULL, false, 2);
    problem = product_problem(&product);
    problem.sm_limit = 1; /* so many tiles in turn take two kernels */
    small_problem = product_problem(&small);
    use_library(NULL); /* fills the cache */
    if (knobs)
        test_eager();
    test_capture();
    if (knobs) {
        test_refused();
        test_places();
    }
    product_free(&product);
    product_free(&small);
    return test_end();
}
