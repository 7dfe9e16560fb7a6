/* SPDX-License-Identifier: MIT */
/* Whether the library's calls wait for a kernel that is running: each is made,
 * by a thread of its own, while a kernel stays on the GPU until the call has
 * returned or it has been waited for long enough. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "clock.h"
#include "gpu.h"
#include "hold.h"
#include "nvrtc_kernel.h"
#include "parts.h"
#include "product.h"
#include "test.h"

enum { PATIENCE_MS = 1500 };
#define HOLD_MOST_NS 5000000000ull /* whatever the host does */

static const struct facts *facts;

/* ---- The kernel that stays --------------------------------------------- */

static volatile struct hold_flags *flags; /* host memory that the GPU sees */
static CUfunction hold_function;
static CUstream hold_stream;
static unsigned *hold_out;

static void open_hold(void)
{
    const struct jg_cuda *cuda = nvrtc_kernel_cuda;
    void *shared, *cubin = hold_cubin_for(facts->major, facts->minor);
    CUlibrary hold_library;
    CUkernel hold_kernel;

    gpu_check(cuda->cuLibraryLoadData(&hold_library, cubin, NULL, NULL, 0, NULL,
                                      NULL, 0),
              "cuLibraryLoadData");
    gpu_check(cuda->cuLibraryGetKernel(&hold_kernel, hold_library, HOLD_SYMBOL),
              "cuLibraryGetKernel");
    gpu_check(cuda->cuKernelGetFunction(&hold_function, hold_kernel),
              "cuKernelGetFunction");
    GPU(cuMemAllocHost(&shared, sizeof *flags));
    flags = shared;
    hold_out = gpu_alloc(HOLD_THREADS * sizeof *hold_out);
    GPU(cuStreamCreate(&hold_stream, CU_STREAM_NON_BLOCKING));
    gpu_check(hold_launch(cuda, hold_function, hold_stream,
                          (struct hold_job){.out = hold_out}),
              "a launch");
    GPU(cuStreamSynchronize(hold_stream));
    CHECK(hold_is_right(hold_out));
}

static void start_hold(void)
{
    double start = jg_clock_ms();

    flags->started = flags->go = flags->late = 0;
    if (facts->emulated) /* no two kernels run at the same time */
        return;
    gpu_check(hold_launch(nvrtc_kernel_cuda, hold_function, hold_stream,
                          (struct hold_job){.out = hold_out,
                                            .flags = flags,
                                            .most_ns = HOLD_MOST_NS}),
              "a launch");
    while (!flags->started && jg_clock_ms() - start < PATIENCE_MS)
        poll(NULL, 0, 1);
    CHECK(flags->started);
}

static void end_hold(void)
{
    flags->go = 1;
    GPU(cuStreamSynchronize(hold_stream));
    CHECK(!flags->late); /* or it did not stay for as long as it should */
}

/* ---- The driver's calls ------------------------------------------------ */

static CUlibrary library;
static CUkernel kernel;
static CUfunction function;
static void *memory;

static void load(void)
{
    gpu_check(nvrtc_kernel_cuda->cuLibraryLoadData(
                  &library, hold_cubin_for(facts->major, facts->minor), NULL,
                  NULL, 0, NULL, NULL, 0),
              "cuLibraryLoadData");
}
static void get_kernel(void)
{
    gpu_check(
        nvrtc_kernel_cuda->cuLibraryGetKernel(&kernel, library, HOLD_SYMBOL),
        "cuLibraryGetKernel");
}
static void get_function(void)
{
    gpu_check(nvrtc_kernel_cuda->cuKernelGetFunction(&function, kernel),
              "cuKernelGetFunction");
}
static void set_attribute(void)
{
    gpu_check(nvrtc_kernel_cuda->cuFuncSetAttribute(
                  function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  0),
              "cuFuncSetAttribute");
}
static void unload(void)
{
    gpu_check(nvrtc_kernel_cuda->cuLibraryUnload(library), "cuLibraryUnload");
}
static void allocate(void)
{
    memory = gpu_alloc(1 << 20);
}
static void release(void)
{
    gpu_free(memory);
}

/* ---- The library's calls ----------------------------------------------- */

static struct product product;
static jitgemm_context *context;
static jitgemm_plan *plan;
static CUstream stream;

static void create_context(void)
{
    JITGEMM(jitgemm_context_create(NULL, &context));
}
static void prepare(void)
{
    jitgemm_problem problem = product_problem(&product);
    jitgemm_kernel report = {.size = sizeof report};
    jitgemm_status status = JITGEMM_OK;
    int i = 0;

    while (status == JITGEMM_OK)
        status = jitgemm_prepare(context, &problem, i++, &report);
    CHECK_INT(status, JITGEMM_E_NOT_FOUND);
}
static void create_plan(void)
{
    jitgemm_problem problem = product_problem(&product);

    JITGEMM(jitgemm_plan_create(context, &problem, &plan));
}
static void bind(void)
{
    jitgemm_operands operands = product_operands(&product);

    JITGEMM(jitgemm_plan_bind(plan, &operands, stream));
}
static void run(void)
{
    JITGEMM(jitgemm_run(plan, stream));
}
static void synchronize(void)
{
    GPU(cuStreamSynchronize(stream));
}
static void destroy_plan(void)
{
    jitgemm_plan_destroy(plan);
}
static void destroy_context(void)
{
    jitgemm_context_destroy(context);
}

static const struct call {
    const char *name;
    void (*make)(void);
    bool may_wait;
} calls[] = {
    {"cuLibraryLoadData", load, true},
    {"cuLibraryGetKernel", get_kernel, true},
    {"cuKernelGetFunction", get_function, true},
    {"cuFuncSetAttribute", set_attribute, true},
    {"cuLibraryUnload", unload, true},
    {"cuMemAlloc", allocate, true},
    {"cuMemFree", release, true},
    {"jitgemm_context_create", create_context, false},
    {"jitgemm_prepare, all", prepare, true}, /* the driver does, loading */
    {"jitgemm_plan_create", create_plan, false},
    {"jitgemm_plan_bind", bind, false},
    {"jitgemm_run", run, false},
    {"the run's end", synchronize, true},
    {"jitgemm_plan_destroy", destroy_plan, true},
    {"jitgemm_context_destroy", destroy_context, true},
};

struct visit {
    const struct call *call;
    double ms;
    atomic_bool done;
};

static void *visit(void *data)
{
    struct visit *visit = data;
    double start;

    GPU(cuCtxSetCurrent(gpu.context));
    start = jg_clock_ms();
    visit->call->make();
    visit->ms = jg_clock_ms() - start;
    visit->done = true;
    return NULL;
}

static void try(const struct call *call)
{
    struct visit job = {.call = call, .done = false};
    bool waits;
    double start;
    pthread_t thread;

    start_hold();
    start = jg_clock_ms();
    CHECK_INT(pthread_create(&thread, NULL, visit, &job), 0);
    while (!job.done && jg_clock_ms() - start < PATIENCE_MS)
        poll(NULL, 0, 1);
    waits = !job.done;
    end_hold();
    pthread_join(thread, NULL);
    printf("%-24s %9.3f  %s\n", call->name, job.ms,
           facts->emulated ? "nothing was running"
           : waits         ? "WAITS for the running kernel"
                           : "does not wait");
    CHECK(!waits || call->may_wait || facts->emulated);
}

/* Into the cache, by a context without a GPU: it loads nothing. */
static void compile_all(void)
{
    jitgemm_context_options options = {
        .size = sizeof options,
        .arch = facts->major == 9 ? "sm_90a" : "sm_100a"};

    JITGEMM(jitgemm_context_create(&options, &context));
    prepare();
    jitgemm_context_destroy(context);
}

int part_overlap(const struct facts *given)
{
    static const int64_t m[] = {8, 3}, n[] = {128, 128};
    static const int64_t k[] = {14336, 14336}; /* two kernels on an H200 */
    double worst;

    facts = given;
    if (!gpu_open() || !nvrtc_kernel_open())
        return TEST_SKIP;
    product_make(&product, 2, m, n, k, REF_FULL, false, 1);
    product_poison(&product);
    compile_all();
    open_hold();
    stream = gpu.stream;
    printf("%s: ms of each call while a kernel runs\n", facts->loading);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        try(&calls[i]);
        if (calls[i].make == synchronize)
            CHECK_INT(product_check(&product, 0, false, &worst), 0);
    }
    product_free(&product);
    return test_end();
}
