/* SPDX-License-Identifier: MIT */
/* Launching what was captured. */
#include "call.h"
#include "capture.h"
#include "queue.h"

using namespace emu_driver;

namespace {

CUresult check(CUgraph graph)
{
    if (is_alive(graph))
        return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_INVALID_VALUE, "%p is no graph",
                  static_cast<void *>(graph));
}

CUresult check(CUgraphExec exec)
{
    if (is_alive(exec))
        return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_INVALID_VALUE, "%p is no graph to launch",
                  static_cast<void *>(exec));
}

/* Each captured stream gets one, but the first, whose work the stream of the
 * launch does. */
CUstream branch_of(CUgraphExec exec, CUstream from, CUstream launched_in)
{
    if (from == exec->nodes[0].from)
        return launched_in;
    CUstream &branch = exec->branches[from];
    if (!branch) {
        branch = create<CUstream_st>();
        branch->alive = false; /* no handle of the user's */
        branch->context = exec->context;
        branch->blocking = false;
    }
    return branch;
}

/* Launches of one graph come one after another. */
void enqueue_all(CUgraphExec exec, CUstream stream)
{
    moment begin = stream->end;
    std::vector<moment> ends;
    operation last{"cuGraphLaunch", nullptr, [] { return CUDA_SUCCESS; }};

    join(&begin, exec->end);
    for (const node &node : exec->nodes) {
        CUstream branch = branch_of(exec, node.from, stream);
        operation todo = node.todo;

        join(&todo.after, begin);
        for (size_t before : node.after)
            join(&todo.after, ends[before]);
        enqueue(branch, std::move(todo));
        ends.push_back(branch->end);
        join(&last.after, branch->end);
    }
    if (!exec->branches.empty())
        enqueue(stream, std::move(last));
    exec->end = stream->end;
}

} // namespace

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph,
                            unsigned long long flags)
{
    return call(__func__, in_context | takes_memory, [&] {
        CUresult result = check(graph);

        if (result != CUDA_SUCCESS)
            return result;
        if (flags)
            return refuse(CUDA_ERROR_NOT_SUPPORTED, "flags are not emulated");
        *exec = create<CUgraphExec_st>();
        (*exec)->context = current_context();
        (*exec)->nodes = graph->nodes;
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
    return call(__func__, in_context, [&] {
        CUstream stream;
        CUresult result = find_own_stream(handle, &stream);

        if (result == CUDA_SUCCESS)
            result = check(exec);
        if (result == CUDA_SUCCESS)
            result = check_implicit_wait(stream);
        if (result != CUDA_SUCCESS)
            return result;
        if (exec->context != stream->context)
            return refuse(CUDA_ERROR_INVALID_HANDLE,
                          "graph and stream are of different contexts");
        if (stream->capturing)
            return refuse(CUDA_ERROR_NOT_SUPPORTED,
                          "graphs within graphs are not emulated");
        enqueue_all(exec, stream);
        run_some();
        return stream->context->error;
    });
}

CUresult cuGraphDestroy(CUgraph graph)
{
    return call(__func__, initialized, [&] {
        CUresult result = check(graph);

        if (result == CUDA_SUCCESS)
            graph->alive = false;
        return result;
    });
}

/* What was launched still happens. */
CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    return call(__func__, initialized, [&] {
        CUresult result = check(exec);

        if (result == CUDA_SUCCESS)
            exec->alive = false;
        return result;
    });
}
