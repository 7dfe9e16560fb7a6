/* SPDX-License-Identifier: MIT */
/* Names and texts of results. */
#include <cuda.h>

namespace {

#define ROW(result, text)                                                     \
    {                                                                         \
        result, #result, text                                                 \
    }

const struct {
    CUresult result;
    const char *name, *text;
} rows[] = {
    ROW(CUDA_SUCCESS, "no error"),
    ROW(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ROW(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ROW(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ROW(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    ROW(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ROW(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ROW(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ROW(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ROW(CUDA_ERROR_NO_BINARY_FOR_GPU,
        "no kernel image is available for execution on the device"),
    ROW(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler not found"),
    ROW(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ROW(CUDA_ERROR_ILLEGAL_STATE,
        "the operation cannot be performed in the present state"),
    ROW(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ROW(CUDA_ERROR_NOT_READY, "device not ready"),
    ROW(CUDA_ERROR_ILLEGAL_ADDRESS,
        "an illegal memory access was encountered"),
    ROW(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        "too many resources requested for launch"),
    ROW(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    ROW(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    ROW(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ROW(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        "operation not permitted when stream is capturing"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        "operation failed due to a previous error during capture"),
    ROW(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_MERGE,
        "operation would result in a merge of separate capture sequences"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
        "capture was not ended in the same stream as it began"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
        "capturing stream has unjoined work"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
        "dependency created on uncaptured work in another stream"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        "operation would make the legacy stream depend on a capturing "
        "blocking stream"),
    ROW(CUDA_ERROR_CAPTURED_EVENT,
        "operation not permitted on an event last recorded in a capturing "
        "stream"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
        "attempt to terminate a thread-local capture sequence from another "
        "thread"),
    ROW(CUDA_ERROR_UNKNOWN, "unknown error"),
};

} // namespace

CUresult cuGetErrorName(CUresult result, const char **name)
{
    *name = nullptr;
    for (const auto &row : rows)
        if (row.result == result)
            *name = row.name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    *text = nullptr;
    for (const auto &row : rows)
        if (row.result == result)
            *text = row.text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
