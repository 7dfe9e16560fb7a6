/* SPDX-License-Identifier: MIT */
#include "graph_time.h"

#include <stdlib.h>

#include "gpu.h"

enum { ROUNDS = 31, RUNS = 10 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

double graph_time(void (*run)(const void *user, int i), const void *user)
{
    double us[ROUNDS];
    CUevent begin, end;
    CUgraph graph;
    CUgraphExec exec;

    GPU(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < RUNS; i++)
        run(user, i);
    GPU(cuStreamEndCapture(gpu.stream, &graph));
    GPU(cuGraphInstantiate(&exec, graph, 0));
    GPU(cuGraphLaunch(exec, gpu.stream));
    GPU(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    GPU(cuEventCreate(&end, CU_EVENT_DEFAULT));
    for (int round = 0; round < ROUNDS; round++) {
        float ms;

        GPU(cuEventRecord(begin, gpu.stream));
        GPU(cuGraphLaunch(exec, gpu.stream));
        GPU(cuEventRecord(end, gpu.stream));
        GPU(cuEventSynchronize(end));
        GPU(cuEventElapsedTime(&ms, begin, end));
        us[round] = (double)ms * 1e3 / RUNS;
    }
    GPU(cuGraphExecDestroy(exec));
    GPU(cuGraphDestroy(graph));
    GPU(cuEventDestroy(begin));
    GPU(cuEventDestroy(end));
    return median(us, ROUNDS);
}
