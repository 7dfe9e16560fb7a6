/* SPDX-License-Identifier: MIT */
/* Streams of the emulated driver: work happens late and in any order that
 * streams, events and waits leave open; what they leave open by mistake is an
 * error. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdlib.h>

#include "emu_calls.h"

enum { BYTES = 64 };
static unsigned char *host; /* page-locked, so that copies to it wait */
static bool lazy;           /* nothing happens before it must */
static bool eager;          /* all happens at once */

static CUdeviceptr allocate(void)
{
    CUdeviceptr memory;

    GPU(cuMemAlloc(&memory, BYTES));
    return memory;
}

static int byte_of(CUdeviceptr memory)
{
    unsigned char byte;

    GPU(cuMemcpyDtoH(&byte, memory, 1));
    return byte;
}

static void test_late(CUstream stream)
{
    CUdeviceptr memory = allocate();
    unsigned char source = 4;
    CUevent event = emu_event();

    memset(host, 1, BYTES);
    CHECK_INT(emu.cuEventQuery(event), CUDA_SUCCESS); /* never recorded */
    EMU(cuMemsetD8Async(memory, 3, BYTES, stream));
    EMU(cuMemcpyHtoDAsync(memory + 1, &source, 1, stream));
    source = 5; /* pageable: what it was is under way */
    EMU(cuMemcpyDtoHAsync(host, memory, BYTES, stream));
    GPU(cuEventRecord(event, stream));
    if (lazy) {
        CHECK_INT(host[0], 1);
        CHECK_INT(emu.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
        CHECK_INT(emu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
    }
    GPU(cuStreamSynchronize(stream));
    CHECK_INT(host[0], 3);
    CHECK_INT(host[1], 4);
    CHECK_INT(emu.cuStreamQuery(stream), CUDA_SUCCESS);
    CHECK_INT(emu.cuEventQuery(event), CUDA_SUCCESS);

    /* Who only asks gets there, too. */
    EMU(cuMemsetD8Async(memory, 6, BYTES, stream));
    EMU(cuMemcpyDtoHAsync(host, memory, BYTES, stream));
    while (emu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        ;
    CHECK_INT(host[0], 6);

    /* Page-locked memory is read when the copy runs. */
    EMU(cuMemcpyHtoDAsync(memory, host, BYTES, stream));
    if (lazy)
        host[0] = 7;
    GPU(cuStreamSynchronize(stream));
    CHECK_INT(byte_of(memory), lazy ? 7 : 6);
    EMU(cuEventDestroy(event));
    if (knobs) /* a real one need not survive it */
        CHECK_REFUSED(gpu.cuEventRecord(event, stream),
                      CUDA_ERROR_INVALID_HANDLE, "no event");
    GPU(cuMemFree(memory));
}

/* ---- Order ------------------------------------------------------------ */

static struct log {
    int count, entries[64];
} log_;

struct entry {
    int value;
    CUresult result; /* of a call that is not allowed there */
};

static void CUDA_CB note(void *data)
{
    struct entry *entry = data;

    log_.entries[log_.count++] = entry->value;
    if (entry->value < 0)
        entry->result = gpu.cuCtxSynchronize();
}

/* Two streams: each keeps its order, and who is first differs. */
static void test_interleaving(CUstream x, CUstream y)
{
    static struct entry entries[4] = {
        {.value = 0}, {.value = 1}, {.value = 10}, {.value = 11}};
    int first[2] = {0, 0}, mixed = 0;

    for (int i = 0; i < 32; i++) {
        int at[12] = {0};

        log_.count = 0;
        EMU(cuLaunchHostFunc(x, note, &entries[0]));
        EMU(cuLaunchHostFunc(x, note, &entries[1]));
        EMU(cuLaunchHostFunc(y, note, &entries[2]));
        EMU(cuLaunchHostFunc(y, note, &entries[3]));
        GPU(cuStreamSynchronize(x));
        GPU(cuStreamSynchronize(y));
        CHECK_INT(log_.count, 4);
        for (int j = 0; j < 4; j++)
            at[log_.entries[j]] = j;
        CHECK(at[0] < at[1] && at[10] < at[11]);
        first[log_.entries[0] >= 10]++;
        mixed += log_.entries[0] / 10 != log_.entries[1] / 10;
    }
    CHECK(!knobs || eager || (first[0] && first[1] && mixed));
}

static void test_host_function(CUstream stream)
{
    struct entry entry = {.value = -1};

    log_.count = 0;
    EMU(cuLaunchHostFunc(stream, note, &entry));
    GPU(cuStreamSynchronize(stream));
    CHECK_INT(log_.count, 1);
    if (knobs)
        CHECK_INT(entry.result, CUDA_ERROR_NOT_PERMITTED);
}

/* Frees wait for all of the context, destroyed streams finish. */
static void test_implicit_waits(void)
{
    CUstream stream = emu_stream(CU_STREAM_NON_BLOCKING);
    struct entry entry = {.value = 1};
    CUdeviceptr memory = allocate();

    log_.count = 0;
    EMU(cuLaunchHostFunc(stream, note, &entry));
    EMU(cuMemsetD8Async(memory, 1, BYTES, stream));
    EMU(cuStreamDestroy(stream));
    CHECK(!lazy || log_.count == 0);
    GPU(cuMemFree(memory));
    CHECK_INT(log_.count, 1);
    if (knobs)
        CHECK_REFUSED(gpu.cuStreamSynchronize(stream),
                      CUDA_ERROR_INVALID_HANDLE, "destroyed");
}

/* The legacy stream and the blocking ones, of which each thread has one, wait
 * for each other. */
static void test_legacy(void)
{
    CUstream blocking = emu_stream(CU_STREAM_DEFAULT);
    CUdeviceptr x = allocate(), y = allocate();

    EMU(cuMemsetD8Async(x, 8, BYTES, blocking));
    CHECK_INT(byte_of(x), 8);
    GPU(cuMemsetD8(x, 9, BYTES));
    EMU(cuMemcpyDtoDAsync(y, x, BYTES, blocking));
    GPU(cuStreamSynchronize(blocking));
    CHECK_INT(byte_of(y), 9);
    EMU(cuMemsetD8Async(y, 10, BYTES, CU_STREAM_PER_THREAD));
    CHECK_INT(byte_of(y), 10);
    EMU(cuStreamDestroy(blocking));
    GPU(cuMemFree(x));
    GPU(cuMemFree(y));
}

static void test_events(CUstream x, CUstream y)
{
    CUdeviceptr from = allocate(), to = allocate();
    CUevent event = emu_event();

    for (int i = 0; i < 16; i++) {
        EMU(cuMemsetD8Async(from, (unsigned char)i, BYTES, x));
        GPU(cuEventRecord(event, x));
        EMU(cuStreamWaitEvent(y, event, 0));
        EMU(cuMemcpyDtoDAsync(to, from, BYTES, y));
        GPU(cuEventRecord(event, y));
        GPU(cuEventSynchronize(event));
        CHECK_INT(byte_of(to), i);
    }
    EMU(cuEventDestroy(event));
    GPU(cuMemFree(from));
    GPU(cuMemFree(to));
}

/* ---- What nothing orders ---------------------------------------------- */

enum mistake {
    NONE,
    NO_EVENT,
    LEGACY_NON_BLOCKING,
    WRONG_EVENT,
    HOST_WAITS,
    HOST_WAITS_LATE
};

/* A fill in one stream and a copy of the same bytes in another. Which call is
 * the first to see the error is open. */
static void test_unordered(enum mistake mistake, CUresult expected)
{
    CUcontext context = emu_begin();
    CUstream x = emu_stream(CU_STREAM_NON_BLOCKING);
    CUstream y = emu_stream(CU_STREAM_NON_BLOCKING);
    CUstream z = emu_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr from = allocate(), to = allocate(), unrelated = allocate();
    CUevent event = emu_event();

    for (int i = 0; i < 8; i++) /* work that stays behind */
        emu.cuMemsetD8Async(unrelated, 1, BYTES, z);
    knobs->reason[0] = 0;
    if (mistake == WRONG_EVENT)
        gpu.cuEventRecord(event, x); /* before the fill */
    emu.cuMemsetD8Async(from, 1, BYTES, x);
    if (mistake == NONE)
        gpu.cuEventRecord(event, x);
    if (mistake == NONE || mistake == WRONG_EVENT)
        emu.cuStreamWaitEvent(y, event, 0);
    if (mistake == HOST_WAITS)
        gpu.cuStreamSynchronize(x);
    emu.cuMemcpyDtoDAsync(to, from + 8, 8,
                          mistake == LEGACY_NON_BLOCKING ? NULL : y);
    if (mistake == HOST_WAITS_LATE)
        gpu.cuStreamSynchronize(x);
    CHECK_INT(gpu.cuCtxSynchronize(), expected);
    CHECK(!expected || strstr(knobs->reason, "nothing orders") != NULL);
    CHECK_INT(gpu.cuMemFree(from), expected); /* it stays */
    emu_end(context);
}

int main(void)
{
    CUstream x, y;
    CUcontext context;

    setenv("JITGEMM_EMU_SEED", "4", 0);
    if (!emu_open())
        return TEST_SKIP;
    lazy = knobs && atoi(getenv("JITGEMM_EMU_SEED")) % 4 == 0;
    eager = knobs && atoi(getenv("JITGEMM_EMU_SEED")) % 4 == 2;
    context = emu_begin();
    x = emu_stream(CU_STREAM_NON_BLOCKING);
    y = emu_stream(CU_STREAM_NON_BLOCKING);
    EMU(cuMemAllocHost((void **)&host, BYTES));
    test_late(x);
    test_interleaving(x, y);
    test_host_function(x);
    test_implicit_waits();
    test_legacy();
    test_events(x, y);
    EMU(cuMemFreeHost(host));
    if (knobs)
        CHECK_REFUSED(emu.cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE,
                      "page-locked");
    emu_end(context);
    for (int i = 0; knobs && i < 8; i++) { /* as the seed goes on */
        test_unordered(NONE, CUDA_SUCCESS);
        test_unordered(HOST_WAITS, CUDA_SUCCESS);
        test_unordered(HOST_WAITS_LATE, CUDA_ERROR_LAUNCH_FAILED);
        test_unordered(NO_EVENT, CUDA_ERROR_LAUNCH_FAILED);
        test_unordered(LEGACY_NON_BLOCKING, CUDA_ERROR_LAUNCH_FAILED);
        test_unordered(WRONG_EVENT, CUDA_ERROR_LAUNCH_FAILED);
    }
    return test_end();
}
