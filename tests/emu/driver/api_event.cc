/* SPDX-License-Identifier: MIT */
/* Events. */
#include "call.h"
#include "capture.h"
#include "queue.h"

#include <time.h>

using namespace emu_driver;

namespace {

double now_ms()
{
    timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e3 +
           static_cast<double>(now.tv_nsec) * 1e-6;
}

CUresult check_alive(CUevent event)
{
    if (is_alive(event))
        return event->context->error;
    return refuse(CUDA_ERROR_INVALID_HANDLE, "%p is no event",
                  static_cast<void *>(event));
}

/* Alive, and of no captured stream. */
CUresult check_event(CUevent event)
{
    CUresult result = check_alive(event);

    if (result != CUDA_SUCCESS || !event->capturing)
        return result;
    event->capturing->invalid = true;
    return refuse(CUDA_ERROR_CAPTURED_EVENT,
                  "the event was last recorded in a captured stream");
}

} // namespace

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    return call(__func__, in_context | takes_memory, [&] {
        if (flags & ~static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC |
                                           CU_EVENT_DISABLE_TIMING))
            return refuse(CUDA_ERROR_INVALID_VALUE, "flags are %u", flags);
        CUevent made = create<CUevent_st>();
        made->context = current_context();
        made->timed = !(flags & CU_EVENT_DISABLE_TIMING);
        emu_knobs.events++;
        *event = made;
        return CUDA_SUCCESS;
    });
}

CUresult cuEventDestroy(CUevent event)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_alive(event);

        if (result != CUDA_SUCCESS)
            return result;
        event->alive = false;
        emu_knobs.events--;
        return CUDA_SUCCESS;
    });
}

CUresult cuEventRecord(CUevent event, CUstream handle)
{
    return call(__func__, initialized, [&] {
        CUstream stream;
        CUresult result = find_stream(handle, &stream);

        if (result == CUDA_SUCCESS)
            result = check_alive(event);
        if (result == CUDA_SUCCESS && stream->context != event->context)
            return refuse(CUDA_ERROR_INVALID_HANDLE,
                          "stream and event are of different contexts");
        if (result == CUDA_SUCCESS)
            result = check_implicit_wait(stream);
        if (result != CUDA_SUCCESS)
            return result;
        event->capturing = stream->capturing;
        event->captured = stream->captured;
        if (event->capturing)
            return event->capturing->invalid
                       ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                       : CUDA_SUCCESS;
        auto ms = std::make_shared<double>(0);
        event->recorded = true;
        event->ms = ms;
        enqueue(stream, {"cuEventRecord", nullptr, [ms] {
                             *ms = now_ms();
                             return CUDA_SUCCESS;
                         }});
        event->at = stream->end;
        return CUDA_SUCCESS;
    });
}

/* An event that was never recorded has happened. */
CUresult cuEventSynchronize(CUevent event)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_event(event);

        if (result == CUDA_SUCCESS)
            result = check_unsafe_call();
        if (result != CUDA_SUCCESS)
            return result;
        wait_for(event->at);
        return event->context->error;
    });
}

CUresult cuEventQuery(CUevent event)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_event(event);

        if (result == CUDA_SUCCESS)
            result = check_unsafe_call();
        if (result == CUDA_SUCCESS && !poll(event->at))
            result = CUDA_ERROR_NOT_READY;
        return result == CUDA_SUCCESS ? event->context->error : result;
    });
}

/* Under both of its names: cuda.h makes this the newer one. */
CUresult cuEventElapsedTime(float *ms, CUevent begin, CUevent end)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_event(begin);

        if (result == CUDA_SUCCESS)
            result = check_event(end);
        if (result != CUDA_SUCCESS)
            return result;
        if (!begin->recorded || !end->recorded || !begin->timed || !end->timed)
            return refuse(CUDA_ERROR_INVALID_HANDLE,
                          "an event was not recorded or is not timed");
        if (!poll(begin->at) || !poll(end->at))
            return CUDA_ERROR_NOT_READY;
        *ms = static_cast<float>(*end->ms - *begin->ms);
        return CUDA_SUCCESS;
    });
}

#undef cuEventElapsedTime
extern "C" CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent begin,
                                               CUevent end)
{
    return cuEventElapsedTime_v2(ms, begin, end);
}
