/* SPDX-License-Identifier: MIT */
/* Graphs of the emulated driver: what was captured happens at each launch, in
 * the order that streams and events gave it. */
#include "emu_calls.h"

enum { BYTES = 64 };

static CUstream x, y;
static CUevent event;
static CUdeviceptr memory;

static CUgraph end(void)
{
    CUgraph graph;

    GPU(cuStreamEndCapture(x, &graph));
    return graph;
}

static int byte_of(int i)
{
    unsigned char byte;

    GPU(cuStreamSynchronize(x));
    GPU(cuMemcpyDtoH(&byte, memory + (CUdeviceptr)i, 1));
    return byte;
}

/* x: 1 everywhere, then y and x in parallel, then x copies y's result. */
static CUgraph fork_and_join(void)
{
    GPU(cuStreamBeginCapture(x, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EMU(cuMemsetD8Async(memory, 1, BYTES, x));
    GPU(cuEventRecord(event, x));
    EMU(cuStreamWaitEvent(y, event, 0));
    EMU(cuMemsetD8Async(memory, 2, 1, y));
    GPU(cuEventRecord(event, y));
    EMU(cuMemsetD8Async(memory + 1, 3, 1, x));
    EMU(cuStreamWaitEvent(x, event, 0));
    EMU(cuMemcpyDtoDAsync(memory + 2, memory, 1, x));
    return end();
}

static void test_graph(void)
{
    CUgraph graph = fork_and_join();
    CUgraphExec exec;

    GPU(cuStreamSynchronize(x));
    GPU(cuMemsetD8(memory, 0, BYTES));
    CHECK_INT(byte_of(0), 0); /* captured, not done */
    GPU(cuGraphInstantiate(&exec, graph, 0));
    EMU(cuGraphDestroy(graph));
    for (int i = 0; i < 16; i++) {
        GPU(cuMemsetD8(memory, 0, BYTES));
        GPU(cuStreamSynchronize(NULL));
        GPU(cuGraphLaunch(exec, x));
        if (i % 3 == 0)
            GPU(cuGraphLaunch(exec, x));
        CHECK_INT(byte_of(0), 2);
        CHECK_INT(byte_of(1), 3);
        CHECK_INT(byte_of(2), 2);
        CHECK_INT(byte_of(3), 1);
    }
    GPU(cuMemsetD8(memory, 0, BYTES));
    GPU(cuStreamSynchronize(NULL));
    GPU(cuGraphLaunch(exec, x));
    EMU(cuGraphExecDestroy(exec)); /* what was launched still happens */
    CHECK_INT(byte_of(2), 2);
    if (knobs) {
        CHECK_REFUSED(gpu.cuGraphLaunch(exec, x), CUDA_ERROR_INVALID_VALUE,
                      "no graph");
        CHECK_REFUSED(gpu.cuGraphInstantiate(&exec, graph, 0),
                      CUDA_ERROR_INVALID_VALUE, "no graph");
    }
}

/* A launch is over when its forks are. */
static void test_late_join(void)
{
    CUgraph graph;
    CUgraphExec exec;

    GPU(cuStreamBeginCapture(x, CU_STREAM_CAPTURE_MODE_GLOBAL));
    GPU(cuEventRecord(event, x));
    EMU(cuStreamWaitEvent(y, event, 0));
    EMU(cuMemsetD8Async(memory, 1, BYTES, x));
    EMU(cuMemsetD8Async(memory + BYTES, 4, 1, y));
    GPU(cuEventRecord(event, y));
    EMU(cuStreamWaitEvent(x, event, 0)); /* and nothing after */
    graph = end();
    GPU(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 8; i++) {
        GPU(cuMemsetD8(memory, 0, BYTES + 1));
        GPU(cuStreamSynchronize(NULL));
        GPU(cuGraphLaunch(exec, x));
        CHECK_INT(byte_of(BYTES), 4);
    }
}

static int noted[4], notes;

static void CUDA_CB note(void *data)
{
    noted[notes++] = *(int *)data;
}

/* Launches of one graph do not overlap, in whatever streams. */
static void test_launches(void)
{
    static int values[] = {0, 1};
    CUgraph graph;
    CUgraphExec exec;

    GPU(cuStreamBeginCapture(x, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EMU(cuLaunchHostFunc(x, note, &values[0]));
    EMU(cuLaunchHostFunc(x, note, &values[1]));
    graph = end();
    GPU(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 8; i++) {
        notes = 0;
        GPU(cuGraphLaunch(exec, x));
        GPU(cuGraphLaunch(exec, y));
        GPU(cuStreamSynchronize(y));
        GPU(cuStreamSynchronize(x));
        for (int j = 0; j < 4; j++)
            CHECK_INT(noted[j], j % 2);
    }
}

/* A launch after its memory was freed. */
static void test_freed(void)
{
    CUcontext context = emu_begin();
    CUdeviceptr freed;
    CUgraphExec exec;
    CUgraph graph;

    x = emu_stream(CU_STREAM_NON_BLOCKING);
    GPU(cuMemAlloc(&freed, BYTES));
    GPU(cuStreamBeginCapture(x, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EMU(cuMemsetD8Async(freed, 1, BYTES, x));
    graph = end();
    GPU(cuGraphInstantiate(&exec, graph, 0));
    GPU(cuMemFree(freed));
    knobs->reason[0] = 0;
    gpu.cuGraphLaunch(exec, x);
    CHECK_INT(gpu.cuStreamSynchronize(x), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(strstr(knobs->reason, "was freed") != NULL);
    emu_end(context);
}

int main(void)
{
    if (!emu_open())
        return TEST_SKIP;
    x = emu_stream(CU_STREAM_NON_BLOCKING);
    y = emu_stream(CU_STREAM_NON_BLOCKING);
    event = emu_event();
    GPU(cuMemAlloc(&memory, BYTES + 1));
    test_graph();
    test_late_join();
    test_launches();
    if (knobs)
        test_freed();
    return test_end();
}
