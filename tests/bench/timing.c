/* SPDX-License-Identifier: MIT */
/* Capturing and replaying. */
#include "timing.h"

#include <stdlib.h>

#include "gpu.h"

enum { MOST_REPLAYS = 21 };

/* The L2 of an H200 has 60 MB, and an event's clock ticks every half of a
 * microsecond. */
static const struct effort full = {2,    512e6,           MOST_REPLAYS,
                                   4000, (size_t)4 << 30, 8192};
static const struct effort tiny = {1, 0, 1, 0, 1 << 16, 64};

const struct effort *effort = &full;

void timing_tiny(void)
{
    effort = &tiny;
}

int timing_sets(double bytes)
{
    double sets = effort->rotated_bytes / bytes + effort->least_sets;

    return sets < TIMING_SETS ? (int)sets : TIMING_SETS;
}

int timing_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double replay(CUgraphExec exec, CUevent *events)
{
    float ms;

    GPU(cuEventRecord(events[0], gpu.stream));
    GPU(cuGraphLaunch(exec, gpu.stream));
    GPU(cuEventRecord(events[1], gpu.stream));
    GPU(cuEventSynchronize(events[1]));
    GPU(cuEventElapsedTime(&ms, events[0], events[1]));
    return (double)ms * 1e3;
}

/* NULL if it cannot be captured. Relaxed, since libraries may do more than
 * launch. */
static CUgraphExec capture(launch_fn launch, void *user, int sets, int runs)
{
    CUgraphExec exec = NULL;
    CUgraph graph = NULL;
    bool good = true;

    GPU(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < runs && good; i++)
        good = launch(user, i % sets);
    if (gpu.cuStreamEndCapture(gpu.stream, &graph) != CUDA_SUCCESS)
        return NULL;
    if (good)
        GPU(cuGraphInstantiate(&exec, graph, 0));
    GPU(cuGraphDestroy(graph));
    return exec;
}

/* Each once, to know how many make a graph long enough. */
static int choose_runs(CUgraphExec exec, CUevent *events, int sets)
{
    double us;

    replay(exec, events);
    us = replay(exec, events);
    return ((int)(effort->graph_us / (us + 1)) + 1) * sets;
}

static struct times summarize(double *us, int count)
{
    qsort(us, (size_t)count, sizeof *us, timing_compare);
    return (struct times){us[count / 2], us[count / 10],
                          us[count - 1 - count / 10], us[0]};
}

bool timing_measure(launch_fn launch, void *user, int sets,
                    struct times *times)
{
    CUgraphExec exec = capture(launch, user, sets, sets);
    double us[MOST_REPLAYS];
    CUevent events[2];
    int runs;

    if (!exec)
        return false;
    GPU(cuEventCreate(&events[0], CU_EVENT_DEFAULT));
    GPU(cuEventCreate(&events[1], CU_EVENT_DEFAULT));
    runs = choose_runs(exec, events, sets);
    GPU(cuGraphExecDestroy(exec));
    exec = capture(launch, user, sets, runs);
    if (exec) {
        replay(exec, events);
        for (int i = 0; i < effort->replays; i++)
            us[i] = replay(exec, events) / runs;
        *times = summarize(us, effort->replays);
        GPU(cuGraphExecDestroy(exec));
    }
    GPU(cuEventDestroy(events[0]));
    GPU(cuEventDestroy(events[1]));
    return exec != NULL;
}
