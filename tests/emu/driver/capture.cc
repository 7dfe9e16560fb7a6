/* SPDX-License-Identifier: MIT */
#include "capture.h"
#include "call.h"

namespace emu_driver {

namespace {

CUresult spoil(capture *capture, CUresult result, const char *why)
{
    capture->invalid = true;
    return refuse(result, "%s", why);
}

CUresult check_valid(const capture &capture)
{
    if (!capture.invalid)
        return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                  "an earlier error spoilt the capture of the stream");
}

/* The blocking streams of a context that are captured. */
std::vector<CUstream> implicit_waits(CUstream stream)
{
    std::vector<CUstream> found;

    for (auto &object : objects<CUstream_st>()) {
        CUstream other = object.first;

        if (stream == stream->context->legacy && other->blocking &&
            other->context == stream->context && other->capturing)
            found.push_back(other);
    }
    return found;
}

} // namespace

CUstreamCaptureMode &capture_mode()
{
    thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

    return mode;
}

CUresult capture_operation(CUstream stream, operation operation)
{
    capture &capture = *stream->capturing;
    CUresult result = check_valid(capture);

    if (result != CUDA_SUCCESS)
        return result;
    capture.nodes.push_back({std::move(operation), stream, stream->captured});
    stream->captured = {capture.nodes.size() - 1};
    return CUDA_SUCCESS;
}

/* A stream that is not captured joins the event's capture. */
CUresult capture_wait(CUstream stream, CUevent event)
{
    if (!event->capturing)
        return spoil(stream->capturing.get(),
                     CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                     "a captured stream would wait for an event from outside "
                     "of the capture");
    if (event->capturing->ended)
        return refuse(CUDA_ERROR_CAPTURED_EVENT,
                      "the event was last recorded in a capture that has "
                      "ended");
    if (stream->capturing && stream->capturing != event->capturing) {
        event->capturing->invalid = true;
        return spoil(stream->capturing.get(), CUDA_ERROR_STREAM_CAPTURE_MERGE,
                     "stream and event belong to different captures");
    }
    CUresult result = check_valid(*event->capturing);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream == stream->context->legacy)
        return spoil(event->capturing.get(),
                     CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                     "the legacy stream cannot be captured");
    if (!stream->capturing)
        stream->captured.clear();
    stream->capturing = event->capturing;
    stream->captured.insert(stream->captured.end(), event->captured.begin(),
                            event->captured.end());
    return CUDA_SUCCESS;
}

CUresult check_unsafe_call()
{
    CUstreamCaptureMode mode = capture_mode();
    bool forbidden = false;

    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    for (auto &object : objects<CUstream_st>()) {
        capture *capture = object.first->capturing.get();

        if (!capture || capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        if (capture->thread == std::this_thread::get_id() ||
            (mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
             capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL)) {
            capture->invalid = true;
            forbidden = true;
        }
    }
    if (!forbidden)
        return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  "may not be called while a stream is being captured; the "
                  "thread's capture mode would have to be relaxed");
}

CUresult check_not_capturing(CUstream stream)
{
    if (!stream->capturing)
        return CUDA_SUCCESS;
    return spoil(stream->capturing.get(),
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                 "the stream is being captured");
}

CUresult check_not_capturing(CUcontext context)
{
    CUresult result = CUDA_SUCCESS;

    for (auto &object : objects<CUstream_st>())
        if (object.first->context == context && result == CUDA_SUCCESS)
            result = check_not_capturing(object.first);
    return result;
}

bool would_wait_implicitly(CUstream stream)
{
    return !implicit_waits(stream).empty();
}

CUresult check_implicit_wait(CUstream stream)
{
    auto captured = implicit_waits(stream);

    for (CUstream other : captured)
        other->capturing->invalid = true;
    if (captured.empty())
        return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                  "the legacy stream would wait for a blocking stream that is "
                  "being captured");
}

} // namespace emu_driver
