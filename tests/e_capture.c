/* SPDX-License-Identifier: MIT */
/* Captures of streams on the emulated driver: results 900 to 908, and which
 * calls spoil a capture. */
#include <pthread.h>

#include "emu_calls.h"

enum { BYTES = 64 };
#define GLOBAL  CU_STREAM_CAPTURE_MODE_GLOBAL
#define LOCAL   CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static CUstream x, y, blocking;
static CUevent event;
static CUdeviceptr memory;

static void begin(CUstream stream, CUstreamCaptureMode mode)
{
    GPU(cuStreamBeginCapture(stream, mode));
}

/* The capture ends so; with success there is a graph. */
static CUgraph end(CUstream stream, CUresult expected)
{
    CUgraph graph = (CUgraph)&graph;

    CHECK_INT(gpu.cuStreamEndCapture(stream, &graph), expected);
    CHECK(!graph == !!expected);
    return graph;
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status;

    EMU(cuStreamIsCapturing(stream, &status));
    return status;
}

/* ---- What may not be called ------------------------------------------- */

static CUresult allocate(void)
{
    CUdeviceptr made;
    CUresult result = gpu.cuMemAlloc(&made, 16);

    return result ? result : gpu.cuMemFree(made);
}
static CUresult sync_context(void)
{
    return gpu.cuCtxSynchronize();
}
static CUresult sync_stream(void)
{
    return gpu.cuStreamSynchronize(x);
}
static CUresult query_stream(void)
{
    return emu.cuStreamQuery(x);
}
static CUresult destroy_stream(void)
{
    return emu.cuStreamDestroy(x);
}
static CUresult copy(void)
{
    char byte;

    return gpu.cuMemcpyDtoH(&byte, memory, 1);
}

struct unsafe {
    CUresult (*call)(void);
    CUstreamCaptureMode mode;
    CUresult in_this_thread, in_another;
    bool strict; /* an H200's driver (580) lets it pass */
};
#define NO CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
static const struct unsafe unsafe[] = {
    {allocate, GLOBAL, NO, NO, false},
    {allocate, LOCAL, NO, CUDA_SUCCESS, false},
    {allocate, RELAXED, CUDA_SUCCESS, CUDA_SUCCESS, false},
    {copy, GLOBAL, NO, NO, true},
    {sync_stream, RELAXED, NO, NO, false},
    {query_stream, RELAXED, NO, NO, false},
    {sync_context, RELAXED, NO, NO, false},
};

static void *call_it(void *data)
{
    CUresult (**call)(void) = data, (*function)(void) = *call;

    GPU(cuCtxSetCurrent(gpu.context));
    return (void *)(uintptr_t)function();
}

static CUresult call_in_another(CUresult (*call)(void))
{
    pthread_t thread;
    void *result;

    pthread_create(&thread, NULL, call_it, &call);
    pthread_join(thread, &result);
    return (CUresult)(uintptr_t)result;
}

static void test_unsafe(void)
{
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        for (int other = 0; other < 2; other++) {
            if (unsafe[i].strict && !knobs)
                continue;
            CUresult expected =
                other ? unsafe[i].in_another : unsafe[i].in_this_thread;

            begin(x, unsafe[i].mode);
            CHECK_INT(status_of(x), CU_STREAM_CAPTURE_STATUS_ACTIVE);
            CHECK_INT(other ? call_in_another(unsafe[i].call)
                            : unsafe[i].call(),
                      expected);
            CHECK_INT(status_of(x), expected
                                        ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE);
            if (expected)
                CHECK_INT(emu.cuMemsetD8Async(memory, 0, 1, x),
                          CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            end(x, expected ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : 0);
            CHECK_INT(status_of(x), CU_STREAM_CAPTURE_STATUS_NONE);
        }
    if (knobs) {
        begin(x, RELAXED);
        CHECK_INT(destroy_stream(), NO);
        end(x, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
}

/* The thread's own mode allows more, and comes back. */
static void test_exchange(void)
{
    CUstreamCaptureMode mode = RELAXED;

    begin(x, GLOBAL);
    EMU(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK_INT(mode, GLOBAL);
    CHECK_INT(allocate(), CUDA_SUCCESS);
    CHECK_INT(call_in_another(allocate), NO); /* has a mode of its own */
    EMU(cuThreadExchangeStreamCaptureMode(&mode));
    CHECK_INT(mode, RELAXED);
    end(x, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    mode = (CUstreamCaptureMode)7;
    if (knobs) /* an H200's driver (580) lets it pass */
        CHECK_INT(emu.cuThreadExchangeStreamCaptureMode(&mode),
                  CUDA_ERROR_INVALID_VALUE);
}

/* ---- Streams and events ------------------------------------------------ */

static void test_states(void)
{
    begin(x, GLOBAL);
    CHECK_REFUSED(gpu.cuStreamBeginCapture(x, GLOBAL),
                  CUDA_ERROR_ILLEGAL_STATE, "already");
    end(x, 0);
    CHECK_REFUSED(gpu.cuStreamEndCapture(x, &(CUgraph){NULL}),
                  CUDA_ERROR_ILLEGAL_STATE, "not being captured");
    CHECK_REFUSED(gpu.cuStreamBeginCapture(NULL, GLOBAL),
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "legacy");
}

static CUresult end_x(void)
{
    CUgraph graph;

    return gpu.cuStreamEndCapture(x, &graph);
}

static void test_wrong_thread(void)
{
    begin(x, LOCAL);
    CHECK_INT(call_in_another(end_x), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    end_x();
    begin(x, RELAXED);
    CHECK_INT(call_in_another(end_x), CUDA_SUCCESS);
}

/* A graph whose fork is not joined, or ended where it did not begin. */
static void test_forks(void)
{
    begin(x, GLOBAL);
    EMU(cuMemsetD8Async(memory, 1, BYTES, x));
    GPU(cuEventRecord(event, x));
    EMU(cuStreamWaitEvent(y, event, 0));
    CHECK_INT(status_of(y), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EMU(cuMemsetD8Async(memory, 2, BYTES, y));
    end(x, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    CHECK_INT(status_of(y), CU_STREAM_CAPTURE_STATUS_NONE);

    begin(x, GLOBAL);
    GPU(cuEventRecord(event, x));
    EMU(cuStreamWaitEvent(y, event, 0));
    end(y, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    end_x();
    CHECK_INT(status_of(y), CU_STREAM_CAPTURE_STATUS_NONE);
}

static void test_events(void)
{
    begin(x, RELAXED);
    GPU(cuEventRecord(event, x));
    CHECK_REFUSED(gpu.cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT,
                  "captured");
    end(x, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    GPU(cuEventRecord(event, y)); /* outside */
    begin(x, RELAXED);
    CHECK_REFUSED(emu.cuStreamWaitEvent(x, event, 0),
                  CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "outside");
    end(x, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    begin(x, RELAXED);
    begin(y, RELAXED);
    GPU(cuEventRecord(event, y));
    CHECK_REFUSED(emu.cuStreamWaitEvent(x, event, 0),
                  CUDA_ERROR_STREAM_CAPTURE_MERGE, "different captures");
    end(x, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end(y, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* The legacy stream would wait for blocking streams. */
static void test_implicit(void)
{
    CUstreamCaptureStatus status;

    begin(blocking, RELAXED);
    CHECK_INT(emu.cuStreamIsCapturing(NULL, &status),
              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK_INT(status_of(blocking), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK_INT(emu.cuMemsetD8Async(memory, 1, 1, NULL),
              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    end(blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(x, RELAXED); /* a non-blocking stream does not mind */
    EMU(cuMemsetD8Async(memory, 1, 1, NULL));
    end(x, 0);
}

int main(void)
{
    if (!emu_open())
        return TEST_SKIP;
    x = emu_stream(CU_STREAM_NON_BLOCKING);
    y = emu_stream(CU_STREAM_NON_BLOCKING);
    blocking = emu_stream(CU_STREAM_DEFAULT);
    event = emu_event();
    GPU(cuMemAlloc(&memory, BYTES + 1));
    test_unsafe();
    test_exchange();
    test_states();
    test_wrong_thread();
    test_forks();
    test_events();
    test_implicit();
    return test_end();
}
