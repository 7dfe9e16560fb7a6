/* SPDX-License-Identifier: MIT */
/* Beginning and ending the capture of streams. */
#include "call.h"
#include "capture.h"
#include "queue.h"

using namespace emu_driver;

namespace {

CUresult check_mode(CUstreamCaptureMode mode)
{
    if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
        mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
        mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_INVALID_VALUE, "capture mode %d",
                  static_cast<int>(mode));
}

/* Whether the origin comes after all that its forks did. */
bool is_joined(const capture &capture)
{
    std::vector<bool> joined(capture.nodes.size());
    auto add = [&](const std::vector<size_t> &nodes) {
        for (size_t node : nodes)
            joined[node] = true;
    };

    add(capture.origin->captured);
    for (size_t i = joined.size(); i-- > 0;)
        if (joined[i])
            add(capture.nodes[i].after);
    for (bool node : joined)
        if (!node)
            return false;
    return true;
}

/* No stream is part of it any more. */
void end(const std::shared_ptr<capture> &capture)
{
    capture->ended = true;
    for (auto &object : objects<CUstream_st>())
        if (object.first->capturing == capture) {
            object.first->capturing = nullptr;
            object.first->captured.clear();
        }
}

CUresult end_capture(CUstream stream, CUgraph *graph)
{
    auto capture = stream->capturing;

    *graph = nullptr;
    if (!capture)
        return refuse(CUDA_ERROR_ILLEGAL_STATE,
                      "the stream is not being captured");
    if (capture->origin != stream) {
        capture->invalid = true;
        return refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                      "the capture began in another stream");
    }
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        capture->thread != std::this_thread::get_id())
        return refuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                      "another thread began the capture");
    bool joined = is_joined(*capture);
    end(capture);
    if (capture->invalid)
        return refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                      "an earlier error spoilt the capture");
    if (!joined)
        return refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                      "the stream does not wait for all that was forked");
    *graph = create<CUgraph_st>();
    (*graph)->nodes = std::move(capture->nodes);
    return CUDA_SUCCESS;
}

} // namespace

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    return call(__func__, anytime, [&] {
        CUresult result = check_mode(*mode);

        if (result == CUDA_SUCCESS)
            std::swap(*mode, capture_mode());
        return result;
    });
}

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode)
{
    return call(__func__, initialized, [&] {
        CUstream stream;
        CUresult result = find_stream(handle, &stream);

        if (result == CUDA_SUCCESS)
            result = check_mode(mode);
        if (result != CUDA_SUCCESS)
            return result;
        if (stream == stream->context->legacy)
            return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "the legacy stream cannot be captured");
        if (stream->capturing)
            return refuse(CUDA_ERROR_ILLEGAL_STATE,
                          "the stream is being captured already");
        stream->capturing = std::make_shared<capture>(
            capture{mode, std::this_thread::get_id(), stream});
        stream->captured.clear();
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    return call(__func__, initialized, [&] {
        CUstream stream;
        CUresult result = find_stream(handle, &stream);

        return result == CUDA_SUCCESS ? end_capture(stream, graph) : result;
    });
}

/* Asking about the legacy stream does not spoil the captures it conflicts
 * with. */
CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    return call(__func__, initialized, [&] {
        CUstream stream;
        CUresult result = find_stream(handle, &stream);

        if (result != CUDA_SUCCESS)
            return result;
        if (would_wait_implicitly(stream))
            return refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                          "the legacy stream, while a blocking stream is "
                          "being captured");
        *status = !stream->capturing ? CU_STREAM_CAPTURE_STATUS_NONE
                  : stream->capturing->invalid
                      ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
        return CUDA_SUCCESS;
    });
}
