/* SPDX-License-Identifier: MIT */
/* Loading, allocating and their opposites while a stream is captured: each
 * call in a capture of its own, since one that fails spoils it. */
#include <pthread.h>

#include "gpu.h"
#include "hold.h"
#include "nvrtc_kernel.h"
#include "parts.h"
#include "test.h"

static const void *cubin;
static const struct jg_cuda *cuda;

/* What was made before the capture or by the call, and is still there. */
struct things {
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CUdeviceptr memory;
};

static CUresult load(struct things *things)
{
    CUlibrary library = NULL;
    CUresult result = cuda->cuLibraryLoadData(&library, cubin, NULL, NULL, 0,
                                              NULL, NULL, 0);

    if (result == CUDA_SUCCESS)
        things->library = library;
    return result;
}
static CUresult get_kernel(struct things *things)
{
    return cuda->cuLibraryGetKernel(&things->kernel, things->library,
                                    HOLD_SYMBOL);
}
static CUresult get_function(struct things *things)
{
    return cuda->cuKernelGetFunction(&things->function, things->kernel);
}
static CUresult set_attribute(struct things *things)
{
    return cuda->cuFuncSetAttribute(
        things->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0);
}
static CUresult load_all(struct things *things)
{
    CUresult result = load(things);

    if (result == CUDA_SUCCESS)
        result = get_kernel(things);
    if (result == CUDA_SUCCESS)
        result = get_function(things);
    return result == CUDA_SUCCESS ? set_attribute(things) : result;
}
static CUresult unload(struct things *things)
{
    CUresult result = cuda->cuLibraryUnload(things->library);

    if (result == CUDA_SUCCESS)
        things->library = NULL;
    return result;
}
static CUresult allocate(struct things *things)
{
    CUdeviceptr memory;
    CUresult result = cuda->cuMemAlloc(&memory, 1 << 20);

    if (result == CUDA_SUCCESS)
        things->memory = memory;
    return result;
}
static CUresult release(struct things *things)
{
    CUresult result = cuda->cuMemFree(things->memory);

    if (result == CUDA_SUCCESS)
        things->memory = 0;
    return result;
}

typedef CUresult call_fn(struct things *);
static const struct {
    const char *name;
    call_fn *call, *before[4]; /* before: ahead of the capture */
} calls[] = {
    {"load", load, {NULL}},
    {"kernel", get_kernel, {load}},
    {"function", get_function, {load, get_kernel}},
    {"attribute", set_attribute, {load, get_kernel, get_function}},
    {"these 4", load_all, {NULL}},
    {"unload", unload, {load_all}},
    {"alloc", allocate, {NULL}},
    {"free", release, {allocate}},
};
enum { CALLS = sizeof calls / sizeof *calls };

struct visit {
    call_fn *call;
    struct things *things;
    bool relaxed;
    CUresult result;
};

static void *visit(void *data)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    struct visit *visit = data;

    GPU(cuCtxSetCurrent(gpu.context));
    if (visit->relaxed)
        gpu_check(cuda->cuThreadExchangeStreamCaptureMode(&mode), "exchange");
    visit->result = visit->call(visit->things);
    if (visit->relaxed)
        gpu_check(cuda->cuThreadExchangeStreamCaptureMode(&mode), "exchange");
    return NULL;
}

/* What a refused call has left behind may be half gone. */
static void clean_up(struct things *things)
{
    if (things->library)
        unload(things);
    if (things->memory)
        release(things);
}

static void try(int which, CUstreamCaptureMode mode, bool other, bool relaxed)
{
    struct things things = {.library = NULL};
    struct visit job = {calls[which].call, &things, relaxed, CUDA_SUCCESS};
    CUgraph graph = NULL;
    CUresult end;
    pthread_t thread;
    char text[20];

    for (int i = 0; i < 4 && calls[which].before[i]; i++)
        gpu_check(calls[which].before[i](&things), "before a capture");
    GPU(cuStreamBeginCapture(gpu.stream, mode));
    if (other) {
        pthread_create(&thread, NULL, visit, &job);
        pthread_join(thread, NULL);
    } else {
        visit(&job);
    }
    end = gpu.cuStreamEndCapture(gpu.stream, &graph);
    if (graph)
        GPU(cuGraphDestroy(graph));
    clean_up(&things);
    snprintf(text, sizeof text, "%d/%d", (int)job.result, (int)end);
    printf(" %-9s", text);
    if (relaxed) { /* as the library does it */
        CHECK_INT(job.result, CUDA_SUCCESS);
        CHECK_INT(end, CUDA_SUCCESS);
    }
}

static void print_heading(const struct facts *facts)
{
    printf("%s: result of the call/of cuStreamEndCapture\n"
           "capture      thread  relaxed",
           facts->loading);
    for (int i = 0; i < CALLS; i++)
        printf(" %-9s", calls[i].name);
    printf("\n");
}

int part_capture(const struct facts *facts)
{
    static const struct {
        CUstreamCaptureMode mode;
        const char *name;
    } modes[] = {{CU_STREAM_CAPTURE_MODE_GLOBAL, "global"},
                 {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, "thread local"},
                 {CU_STREAM_CAPTURE_MODE_RELAXED, "relaxed"}};

    if (!gpu_open() || !nvrtc_kernel_open())
        return TEST_SKIP;
    cuda = nvrtc_kernel_cuda;
    cubin = hold_cubin_for(facts->major, facts->minor);
    print_heading(facts);
    for (int i = 0; i < 12; i++) {
        bool other = i / 2 % 2, relaxed = i % 2;

        printf("%-12s %-7s %-7s", modes[i / 4].name, other ? "another" : "its",
               relaxed ? "yes" : "no");
        for (int call = 0; call < CALLS; call++)
            try(call, modes[i / 4].mode, other, relaxed);
        printf("\n");
    }
    return test_end();
}
