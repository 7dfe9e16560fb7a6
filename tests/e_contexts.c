/* SPDX-License-Identifier: MIT */
/* Contexts of the emulated driver: stacks of threads, handles in the wrong
 * one, and the end of one. */
#include <pthread.h>

#include "emu_calls.h"

static void *other_thread(void *data)
{
    CUcontext current = data;

    GPU(cuCtxGetCurrent(&current));
    CHECK(current == NULL);
    return NULL;
}

static void test_stack(void)
{
    CUcontext top = gpu.context, made = emu_begin(), popped, current;
    pthread_t thread;

    GPU(cuCtxGetCurrent(&current));
    CHECK(current == made);
    pthread_create(&thread, NULL, other_thread, made);
    pthread_join(thread, NULL);
    GPU(cuCtxPushCurrent(top));
    GPU(cuCtxPushCurrent(made));
    EMU(cuCtxPopCurrent(&popped));
    CHECK(popped == made);
    GPU(cuCtxGetCurrent(&current));
    CHECK(current == top);
    EMU(cuCtxPopCurrent(&popped));
    GPU(cuCtxSetCurrent(top)); /* instead of `made` */
    GPU(cuCtxPushCurrent(made));
    emu_end(made); /* which takes it off the stack */
    GPU(cuCtxGetCurrent(&current));
    CHECK(current == top);
    EMU(cuCtxPopCurrent(&popped));
    GPU(cuCtxGetCurrent(&current));
    CHECK(current == top); /* what gpu_open() had set */
}

static void test_no_context(void)
{
    CUdeviceptr memory;
    CUevent event;
    CUstream stream = emu_stream(CU_STREAM_NON_BLOCKING);
    CUcontext popped;

    GPU(cuCtxSetCurrent(NULL));
    CHECK_REFUSED(gpu.cuMemAlloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT,
                  "no current context");
    CHECK_REFUSED(gpu.cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT,
                  "no current context");
    CHECK_REFUSED(gpu.cuStreamSynchronize(NULL), CUDA_ERROR_INVALID_CONTEXT,
                  "no current context");
    CHECK_REFUSED(emu.cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT,
                  "empty");
    GPU(cuStreamSynchronize(stream)); /* which knows its own */
    GPU(cuCtxSetCurrent(gpu.context));
    EMU(cuStreamDestroy(stream));
}

/* Streams and events of one context, used while another is current. */
static void test_wrong_context(void)
{
    CUstream stream = emu_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = emu_event();
    CUcontext other = emu_begin();
    CUstream own = emu_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory;

    GPU(cuMemAlloc(&memory, 16));
    if (knobs) { /* a real one lets copies pass */
        CHECK_REFUSED(emu.cuMemsetD8Async(memory, 1, 16, stream),
                      CUDA_ERROR_INVALID_HANDLE, "another context");
        CHECK_REFUSED(emu.cuMemcpyDtoDAsync(memory, memory + 8, 8, stream),
                      CUDA_ERROR_INVALID_HANDLE, "another context");
    }
    CHECK_REFUSED(gpu.cuEventRecord(event, own), CUDA_ERROR_INVALID_HANDLE,
                  "different contexts");
    GPU(cuStreamSynchronize(stream));
    GPU(cuCtxSetCurrent(gpu.context));
    if (knobs)
        CHECK_REFUSED(gpu.cuMemFree(memory), CUDA_ERROR_INVALID_VALUE,
                      "another context");
    GPU(cuCtxPushCurrent(other));
    GPU(cuMemFree(memory));
    emu_end(other);
    EMU(cuEventDestroy(event));
    EMU(cuStreamDestroy(stream));
}

/* Nothing of a context outlives it. The real driver does not promise errors
 * for handles that have died. */
static void test_destroyed(void)
{
    CUcontext context = emu_begin();
    CUstream stream = emu_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = emu_event();
    CUdeviceptr memory;
    int leaked = knobs->leaked, allocations = knobs->allocations;

    GPU(cuMemAlloc(&memory, 16));
    GPU(cuCtxPushCurrent(gpu.context));
    GPU(cuCtxPushCurrent(context));
    GPU(cuCtxPushCurrent(gpu.context));
    emu_end(context);
    CHECK_INT(knobs->leaked, leaked + 1);
    CHECK_INT(knobs->allocations, allocations);
    EMU(cuCtxPopCurrent(NULL));
    CHECK_REFUSED(gpu.cuMemAlloc(&memory, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED,
                  "destroyed");
    GPU(cuCtxSetCurrent(gpu.context));
    CHECK_REFUSED(gpu.cuCtxPushCurrent(context),
                  CUDA_ERROR_CONTEXT_IS_DESTROYED, "destroyed");
    CHECK_REFUSED(emu.cuCtxDestroy(context), CUDA_ERROR_CONTEXT_IS_DESTROYED,
                  "destroyed");
    CHECK_REFUSED(gpu.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE,
                  "destroyed");
    CHECK_REFUSED(gpu.cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE,
                  "no event");
    CHECK_REFUSED(gpu.cuMemFree(memory), CUDA_ERROR_INVALID_VALUE,
                  "freed before");
    CHECK_REFUSED(gpu.cuCtxPushCurrent((CUcontext)&memory),
                  CUDA_ERROR_INVALID_CONTEXT, "no context");
    GPU(cuCtxSetCurrent(gpu.context));
}

/* Counted; the last release ends it, the next retain begins another. */
static void test_primary(void)
{
    CUcontext again;
    CUdeviceptr memory;

    GPU(cuDevicePrimaryCtxRetain(&again, 0));
    CHECK(again == gpu.context);
    CHECK_REFUSED(emu.cuCtxDestroy(again), CUDA_ERROR_INVALID_CONTEXT,
                  "released");
    EMU(cuDevicePrimaryCtxRelease(0));
    GPU(cuMemAlloc(&memory, 16));
    GPU(cuMemFree(memory));
    EMU(cuDevicePrimaryCtxRelease(0));
    CHECK_REFUSED(gpu.cuMemAlloc(&memory, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED,
                  "destroyed");
    CHECK_REFUSED(emu.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT,
                  "more often");
    GPU(cuDevicePrimaryCtxRetain(&gpu.context, 0));
    GPU(cuCtxSetCurrent(gpu.context));
    GPU(cuMemAlloc(&memory, 16));
    GPU(cuMemFree(memory));
}

int main(void)
{
    if (!emu_open())
        return TEST_SKIP;
    test_stack();
    test_no_context();
    test_wrong_context();
    if (knobs)
        test_destroyed();
    test_primary();
    return test_end();
}
