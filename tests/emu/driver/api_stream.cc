/* SPDX-License-Identifier: MIT */
/* Streams, and functions of the host in them. */
#include "call.h"
#include "capture.h"
#include "queue.h"

using namespace emu_driver;

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return call(__func__, in_context | takes_memory, [&] {
        if (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING))
            return refuse(CUDA_ERROR_INVALID_VALUE, "flags are %u", flags);
        CUstream made = create<CUstream_st>();
        made->context = current_context();
        made->blocking = !(flags & CU_STREAM_NON_BLOCKING);
        emu_knobs.streams++;
        *stream = made;
        return CUDA_SUCCESS;
    });
}

/* What is queued still happens. */
CUresult cuStreamDestroy(CUstream handle)
{
    return call(__func__, initialized, [&] {
        CUstream stream;
        CUresult result = find_stream(handle, &stream);

        if (result == CUDA_SUCCESS && stream == stream->context->legacy)
            return refuse(CUDA_ERROR_INVALID_HANDLE,
                          "the legacy stream cannot be destroyed");
        if (result == CUDA_SUCCESS)
            result = check_not_capturing(stream);
        if (result != CUDA_SUCCESS)
            return result;
        stream->alive = false;
        emu_knobs.streams--;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamSynchronize(CUstream handle)
{
    return call(__func__, initialized, [&] {
        CUstream stream;
        CUresult result = find_stream(handle, &stream);

        if (result == CUDA_SUCCESS)
            result = check_not_capturing(stream);
        if (result == CUDA_SUCCESS)
            result = check_implicit_wait(stream);
        if (result == CUDA_SUCCESS)
            result = check_unsafe_call();
        if (result != CUDA_SUCCESS)
            return result;
        wait_for(stream->end);
        return stream->context->error;
    });
}

CUresult cuStreamQuery(CUstream handle)
{
    return call(__func__, initialized, [&] {
        CUstream stream;
        CUresult result = find_stream(handle, &stream);

        if (result == CUDA_SUCCESS)
            result = check_not_capturing(stream);
        if (result == CUDA_SUCCESS)
            result = check_implicit_wait(stream);
        if (result == CUDA_SUCCESS)
            result = check_unsafe_call();
        if (result == CUDA_SUCCESS && !poll(stream->end))
            result = CUDA_ERROR_NOT_READY;
        return result == CUDA_SUCCESS ? stream->context->error : result;
    });
}

/* For what the event stands for at the call. */
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags)
{
    return call(__func__, initialized, [&] {
        CUstream stream;
        CUresult result = find_stream(handle, &stream);

        if (result == CUDA_SUCCESS && flags)
            return refuse(CUDA_ERROR_INVALID_VALUE, "flags are %u", flags);
        if (result == CUDA_SUCCESS && !is_alive(event))
            return refuse(CUDA_ERROR_INVALID_HANDLE, "%p is no event",
                          static_cast<void *>(event));
        if (result == CUDA_SUCCESS && (stream->capturing || event->capturing))
            return capture_wait(stream, event);
        if (result == CUDA_SUCCESS)
            result = check_implicit_wait(stream);
        if (result == CUDA_SUCCESS && event->recorded)
            enqueue(stream, {"cuStreamWaitEvent",
                             nullptr,
                             [] { return CUDA_SUCCESS; },
                             {},
                             event->at});
        return result;
    });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data)
{
    return call(__func__, in_context, [&] {
        CUstream stream;
        CUresult result = find_own_stream(handle, &stream);

        if (result != CUDA_SUCCESS)
            return result;
        return submit(stream, {"cuLaunchHostFunc", nullptr, [=] {
                                   in_host_function = true;
                                   function(data);
                                   in_host_function = false;
                                   return CUDA_SUCCESS;
                               }});
    });
}
