/* SPDX-License-Identifier: MIT */
/* Who waits runs the work, any stream's that is ready, until what it waits for
 * has happened. */
#include "queue.h"
#include "../random.h"
#include "call.h"
#include "capture.h"
#include "heap.h"
#include "launch.h"
#include "order.h"

#include <algorithm>

#include <stdio.h>
#include <stdlib.h>

namespace emu_driver {

namespace {

unsigned long long seed()
{
    static const char *text = getenv("JITGEMM_EMU_SEED");

    return text && *text ? strtoull(text, nullptr, 10) : 1;
}

emu::random_source &source()
{
    static emu::random_source random{seed()};

    return random;
}

bool is_ready(CUstream stream)
{
    return !stream->waiting.empty() &&
           has_happened(stream->waiting.front().after);
}

/* Whether the second operation may start before the first has ended. */
bool may_overlap(CUstream stream)
{
    if (stream->waiting.size() < 2)
        return false;
    const operation &first = stream->waiting[0];
    const operation &second = stream->waiting[1];

    if (!first.kernel || !second.kernel ||
        !can_overlap(*first.kernel, *second.kernel) || choose(4) == 0)
        return false;
    for (const auto &part : second.after)
        if (part.first != stream && part.first->done < part.second)
            return false;
    return true;
}

/* A copy or a fill: its memory may have been freed since. */
CUresult run_work(const operation &todo)
{
    for (bool write : {false, true})
        for (const auto &span : todo.uses.all(write)) {
            std::string why = heap_fault(span.begin, span.end - span.begin);

            if (!why.empty())
                return report(CUDA_ERROR_ILLEGAL_ADDRESS, todo.name,
                              why.c_str());
        }
    heap_access access;
    return todo.work();
}

/* A kernel that starts early may do so while all those before it are at work
 * that do so, too, and the one before them: each may let the next one start
 * before it waits itself. What it does once it has waited comes after the one
 * before it, and after what that one has waited for. All that does not start
 * early comes after all of them. */
CUresult check_chain(CUstream stream, const operation &done)
{
    auto &chain = stream->chain;
    char text[160];

    if (!done.kernel || !done.kernel->overlap)
        chain.clear();
    else if (done.waited && !chain.empty())
        chain.back().ended = true;
    for (const operation &before : chain) {
        const footprint &uses = before.ended ? done.early : done.uses;

        if (uintptr_t byte = before.uses.conflict(uses)) {
            snprintf(text, sizeof text,
                     "missing-launch-wait: it uses %p, and so does %s, which "
                     "it has not waited for",
                     reinterpret_cast<void *>(byte), before.name);
            return report(CUDA_ERROR_LAUNCH_FAILED, done.name, text);
        }
    }
    if (done.kernel)
        chain.push_back(done);
    return CUDA_SUCCESS;
}

/* With what it used, for the checks of its order. */
CUresult end_one(CUstream stream, const operation &done)
{
    CUresult result = check_chain(stream, done);

    stream->done++;
    return result == CUDA_SUCCESS ? check_order({stream, stream->done}, done)
                                  : result;
}

CUresult run_one(CUstream stream, operation todo)
{
    CUresult result = todo.kernel ? run_launch(&todo) : run_work(todo);

    if (result == CUDA_SUCCESS)
        return end_one(stream, todo);
    stream->done++;
    return result;
}

CUresult run_two(CUstream stream, operation first, operation second)
{
    CUresult result = run_overlapped(&first, &second);

    if (result == CUDA_SUCCESS)
        result = end_one(stream, first);
    else
        stream->done++;
    if (result == CUDA_SUCCESS)
        return end_one(stream, second);
    stream->done++;
    return result;
}

operation take(CUstream stream)
{
    operation first = std::move(stream->waiting.front());

    stream->waiting.pop_front();
    return first;
}

/* After an error the context does nothing more. */
void run_next(CUstream stream)
{
    CUresult *error = &stream->context->error;
    bool two = !*error && may_overlap(stream);
    operation first = take(stream);

    if (*error)
        stream->done++;
    else if (two)
        *error = run_two(stream, std::move(first), take(stream));
    else
        *error = run_one(stream, std::move(first));
}

bool run_something()
{
    std::vector<CUstream> ready;

    for (auto &object : objects<CUstream_st>())
        if (is_ready(object.first))
            ready.push_back(object.first);
    if (ready.empty())
        return false;
    std::sort(ready.begin(), ready.end(), [](CUstream x, CUstream y) {
        return x->number < y->number;
    });
    run_next(ready[choose(ready.size())]);
    return true;
}

/* The calling thread's. */
CUstream own_stream(CUcontext context)
{
    thread_local std::map<CUcontext, CUstream> streams;
    CUstream &own = streams[context];

    if (!own) {
        own = create<CUstream_st>();
        own->context = context;
        own->blocking = true;
        emu_knobs.streams++;
    }
    return own;
}

} // namespace

unsigned choose(size_t limit)
{
    return source().below(limit);
}

unsigned long long next_seed()
{
    return source().next();
}

/* Some seeds do nothing before they must, some all at once. */
void run_some()
{
    unsigned long long style = seed() % 4;
    bool lazy = style == 0, eager = style == 2;

    if (lazy || (!eager && choose(8) > 0))
        return;
    while (run_something())
        if (!eager && choose(3) == 0)
            break;
}

CUresult find_stream(CUstream handle, CUstream *stream)
{
    if (!handle || handle == CU_STREAM_LEGACY ||
        handle == CU_STREAM_PER_THREAD) {
        CUcontext context = current_context();

        if (!context)
            return refuse(CUDA_ERROR_INVALID_CONTEXT,
                          "the thread has no current context, whose stream "
                          "this would be");
        handle = handle == CU_STREAM_PER_THREAD ? own_stream(context)
                                                : context->legacy;
    }
    if (!objects<CUstream_st>().count(handle))
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%p is no stream",
                      static_cast<void *>(handle));
    if (!handle->alive)
        return refuse(CUDA_ERROR_INVALID_HANDLE, "the stream was destroyed");
    *stream = handle;
    return handle->context->error;
}

CUresult find_own_stream(CUstream handle, CUstream *stream)
{
    CUresult result = find_stream(handle, stream);

    if (result == CUDA_SUCCESS && (*stream)->context != current_context())
        return refuse(CUDA_ERROR_INVALID_HANDLE,
                      "the stream is of another context than the current");
    return result;
}

void join(moment *to, const moment &from)
{
    for (const auto &part : from) {
        uint64_t &own = (*to)[part.first];

        if (own < part.second)
            own = part.second;
    }
}

/* The legacy stream and the blocking ones wait for each other. */
void enqueue(CUstream stream, operation operation)
{
    CUstream legacy = stream->context->legacy;

    join(&operation.after, stream->end);
    join(&operation.after, host_knows());
    if (stream->blocking)
        join(&operation.after, legacy->end);
    for (auto &object : objects<CUstream_st>())
        if (stream == legacy && object.first->context == stream->context &&
            object.first->blocking)
            join(&operation.after, object.first->end);
    operation.uses.settle();
    stream->end = operation.after;
    stream->end[stream]++;
    stream->waiting.push_back(std::move(operation));
}

CUresult submit(CUstream stream, operation operation)
{
    CUresult result = check_implicit_wait(stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (stream->capturing)
        return capture_operation(stream, std::move(operation));
    enqueue(stream, std::move(operation));
    run_some();
    return stream->context->error;
}

bool has_happened(const moment &when)
{
    for (const auto &part : when)
        if (part.first->done < part.second)
            return false;
    return true;
}

void wait_for(const moment &when)
{
    while (!has_happened(when))
        if (!run_something())
            abort(); /* every wait is for what was enqueued before it */
    host_learns(when);
}

void wait_for_context(CUcontext context)
{
    moment all;

    for (auto &object : objects<CUstream_st>())
        if (object.first->context == context)
            join(&all, object.first->end);
    wait_for(all);
}

bool poll(const moment &when)
{
    if (!has_happened(when) && choose(2))
        run_something();
    if (!has_happened(when))
        return false;
    host_learns(when);
    return true;
}

} // namespace emu_driver
