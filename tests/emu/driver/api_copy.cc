/* SPDX-License-Identifier: MIT */
/* Copies and fills. Those without "Async" go through the legacy stream; of
 * them only copies to the host wait. */
#include "call.h"
#include "capture.h"
#include "heap.h"
#include "host_memory.h"
#include "queue.h"

#include <string.h>

using namespace emu_driver;

namespace {

unsigned char *pointer(CUdeviceptr address)
{
    return reinterpret_cast<unsigned char *>(static_cast<uintptr_t>(address));
}

CUresult check_range(CUdeviceptr address, size_t bytes)
{
    std::string why = heap_fault(static_cast<uintptr_t>(address), bytes);

    return why.empty() ? CUDA_SUCCESS
                       : refuse(CUDA_ERROR_INVALID_VALUE, "%s", why.c_str());
}

/* From pageable memory: the call takes the bytes with it. A graph reads them
 * at each launch. */
CUresult copy_in(const char *name, CUdeviceptr to, const void *from,
                 size_t bytes, CUstream stream)
{
    CUresult result = check_range(to, bytes);
    const auto *begin = static_cast<const unsigned char *>(from);
    std::vector<unsigned char> taken;
    operation copy{name, nullptr, {}};

    if (result != CUDA_SUCCESS)
        return result;
    if (!stream->capturing && !host_is_locked(from))
        taken.assign(begin, begin + bytes);
    copy.work = [=, taken = std::move(taken)] {
        memcpy(pointer(to), taken.empty() ? begin : taken.data(), bytes);
        return CUDA_SUCCESS;
    };
    copy.uses.add(to, bytes, true);
    emu_knobs.uploads++;
    return submit(stream, std::move(copy));
}

CUresult copy_out(const char *name, void *to, CUdeviceptr from, size_t bytes,
                  CUstream stream)
{
    CUresult result = check_range(from, bytes);
    operation copy{name, nullptr, [=] {
                       memcpy(to, pointer(from), bytes);
                       return CUDA_SUCCESS;
                   }};

    copy.uses.add(from, bytes, false);
    return result == CUDA_SUCCESS ? submit(stream, std::move(copy)) : result;
}

CUresult copy_within(const char *name, CUdeviceptr to, CUdeviceptr from,
                     size_t bytes, CUstream stream)
{
    CUresult result = check_range(to, bytes);
    operation copy{name, nullptr, [=] {
                       memmove(pointer(to), pointer(from), bytes);
                       return CUDA_SUCCESS;
                   }};

    if (result == CUDA_SUCCESS)
        result = check_range(from, bytes);
    copy.uses.add(to, bytes, true);
    copy.uses.add(from, bytes, false);
    return result == CUDA_SUCCESS ? submit(stream, std::move(copy)) : result;
}

template <class T>
CUresult fill(const char *name, CUdeviceptr to, T value, size_t count,
              CUstream stream)
{
    CUresult result = check_range(to, count * sizeof value);
    operation fill{name, nullptr, [=] {
                       for (size_t i = 0; i < count; i++)
                           memcpy(pointer(to) + i * sizeof value, &value,
                                  sizeof value);
                       return CUDA_SUCCESS;
                   }};

    if (result != CUDA_SUCCESS)
        return result;
    if (to % sizeof value)
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "0x%llx is not a multiple of %zu", to, sizeof value);
    fill.uses.add(to, count * sizeof value, true);
    return submit(stream, std::move(fill));
}

/* In the current context's legacy stream, or in one of its streams. */
template <class F> CUresult in_legacy(const char *name, const F &body)
{
    return call(name, in_context | capture_unsafe,
                [&] { return body(current_context()->legacy); });
}
template <class F>
CUresult in_stream(const char *name, CUstream handle, const F &body)
{
    return call(name, in_context, [&] {
        CUstream stream;
        CUresult result = find_own_stream(handle, &stream);

        return result == CUDA_SUCCESS ? body(stream) : result;
    });
}

CUresult and_wait(CUresult result, CUstream stream)
{
    if (result != CUDA_SUCCESS)
        return result;
    wait_for(stream->end);
    return stream->context->error;
}

} // namespace

/* Returns when the bytes are taken, but the copy may come later. */
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return in_legacy(__func__, [&](CUstream stream) {
        CUresult result = copy_in("cuMemcpyHtoD", to, from, bytes, stream);

        return host_is_locked(from) ? and_wait(result, stream) : result;
    });
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream handle)
{
    return in_stream(__func__, handle, [&](CUstream stream) {
        return copy_in("cuMemcpyHtoDAsync", to, from, bytes, stream);
    });
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return in_legacy(__func__, [&](CUstream stream) {
        return and_wait(copy_out("cuMemcpyDtoH", to, from, bytes, stream),
                        stream);
    });
}

/* Into pageable memory it returns when the copy is done. */
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                           CUstream handle)
{
    return in_stream(__func__, handle, [&](CUstream stream) {
        CUresult result =
            copy_out("cuMemcpyDtoHAsync", to, from, bytes, stream);

        return stream->capturing || host_is_locked(to)
                   ? result
                   : and_wait(result, stream);
    });
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream handle)
{
    return in_stream(__func__, handle, [&](CUstream stream) {
        return copy_within("cuMemcpyDtoDAsync", to, from, bytes, stream);
    });
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    return in_legacy(__func__, [&](CUstream stream) {
        return fill("cuMemsetD8", to, value, count, stream);
    });
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
    return in_legacy(__func__, [&](CUstream stream) {
        return fill("cuMemsetD16", to, value, count, stream);
    });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                         CUstream handle)
{
    return in_stream(__func__, handle, [&](CUstream stream) {
        return fill("cuMemsetD8Async", to, value, count, stream);
    });
}
