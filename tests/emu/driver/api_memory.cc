/* SPDX-License-Identifier: MIT */
/* Device memory, and page-locked memory of the host. */
#include "call.h"
#include "heap.h"
#include "host_memory.h"
#include "queue.h"

using namespace emu_driver;

CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
    return call(__func__, in_context | capture_unsafe | takes_memory, [&] {
        if (!bytes)
            return refuse(CUDA_ERROR_INVALID_VALUE, "no bytes");
        uintptr_t made = heap_allocate(current_context(), bytes);
        if (!made)
            return refuse(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes", bytes);
        *memory = made;
        return CUDA_SUCCESS;
    });
}

/* Waits for all that may use the memory, as a real one does. */
CUresult cuMemFree(CUdeviceptr memory)
{
    return call(__func__, in_context | capture_unsafe, [&] {
        CUcontext context = current_context();
        std::string why;

        if (!memory)
            return CUDA_SUCCESS;
        wait_for_context(context);
        CUresult result =
            heap_free(context, static_cast<uintptr_t>(memory), &why);
        if (result != CUDA_SUCCESS)
            refuse(result, "0x%llx %s", memory, why.c_str());
        if (result == CUDA_ERROR_ILLEGAL_ADDRESS)
            context->error = result;
        return result == CUDA_SUCCESS ? context->error : result;
    });
}

CUresult cuMemAllocHost(void **memory, size_t bytes)
{
    return call(__func__, in_context | capture_unsafe | takes_memory, [&] {
        if (!bytes)
            return refuse(CUDA_ERROR_INVALID_VALUE, "no bytes");
        *memory = host_allocate(bytes);
        return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    });
}

CUresult cuMemFreeHost(void *memory)
{
    return call(__func__, in_context | capture_unsafe, [&] {
        wait_for_context(current_context());
        if (!host_free(memory))
            return refuse(CUDA_ERROR_INVALID_VALUE,
                          "%p is no page-locked memory", memory);
        return current_context()->error;
    });
}
