/* SPDX-License-Identifier: MIT */
/* The device's primary context, others, and each thread's stack of current
 * ones. */
#include "call.h"
#include "capture.h"
#include "heap.h"
#include "queue.h"

#include <stdio.h>

using namespace emu_driver;

namespace {

struct primary {
    CUcontext context = nullptr; /* while somebody retains it */
    int retained = 0;
} primaries[8]; /* of the devices */

CUcontext make_context(CUdevice device)
{
    CUcontext context = create<CUctx_st>();

    context->device = device;

    context->legacy = create<CUstream_st>();
    context->legacy->context = context;
    context->legacy->blocking = false;
    emu_knobs.contexts++;
    return context;
}

template <class T> int kill_all_of(CUcontext context)
{
    int count = 0;

    for (auto &object : objects<T>())
        if (object.first->context == context && object.first->alive) {
            object.first->alive = false;
            count++;
        }
    return count;
}

/* Frees what the user did not, and says so. */
void destroy(CUcontext context)
{
    wait_for_context(context);
    int leaked = heap_free_all(context);
    context->legacy->alive = false;
    emu_knobs.streams -= kill_all_of<CUstream_st>(context);
    emu_knobs.events -= kill_all_of<CUevent_st>(context);
    kill_all_of<CUfunc_st>(context);
    kill_all_of<CUgraphExec_st>(context);
    context->alive = false;
    emu_knobs.contexts--;
    emu_knobs.leaked += leaked;
    if (leaked)
        fprintf(stderr,
                "emulated driver: a context ends with %d allocations\n",
                leaked);
}

CUresult check_handle(CUcontext context)
{
    if (!objects<CUctx_st>().count(context))
        return refuse(CUDA_ERROR_INVALID_CONTEXT, "%p is no context",
                      static_cast<void *>(context));
    if (!context->alive)
        return refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                      "the context was destroyed");
    return CUDA_SUCCESS;
}

CUresult create_context(CUcontext *context, unsigned flags, CUdevice device)
{
    CUresult result = check_device(device);

    if (result == CUDA_SUCCESS && flags > CU_CTX_SCHED_BLOCKING_SYNC)
        return refuse(CUDA_ERROR_INVALID_VALUE, "flags are %u", flags);
    if (result != CUDA_SUCCESS)
        return result;
    *context = make_context(device);
    context_stack().push_back(*context);
    return CUDA_SUCCESS;
}

} // namespace

#if CUDA_VERSION >= 13000
CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *parameters,
                     unsigned flags, CUdevice device)
{
    return call(__func__, initialized | capture_unsafe | takes_memory, [&] {
        if (parameters)
            return refuse(CUDA_ERROR_NOT_SUPPORTED,
                          "parameters are not emulated");
        return create_context(context, flags, device);
    });
}
#else
CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
    return call(__func__, initialized | capture_unsafe | takes_memory,
                [&] { return create_context(context, flags, device); });
}
#endif

CUresult cuCtxDestroy(CUcontext context)
{
    return call(__func__, initialized | capture_unsafe, [&] {
        CUresult result = check_handle(context);

        if (result == CUDA_SUCCESS &&
            context == primaries[context->device].context)
            return refuse(CUDA_ERROR_INVALID_CONTEXT,
                          "a primary context is released instead");
        if (result != CUDA_SUCCESS)
            return result;
        destroy(context);
        if (current_context() == context)
            context_stack().pop_back();
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    return call(__func__, initialized | takes_memory, [&] {
        CUresult result = check_device(device);

        if (result != CUDA_SUCCESS)
            return result;
        struct primary &primary = primaries[device];
        if (!primary.retained++)
            primary.context = make_context(device);
        emu_knobs.retained++;
        *context = primary.context;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_device(device);

        if (result != CUDA_SUCCESS)
            return result;
        struct primary &primary = primaries[device];
        if (!primary.retained)
            return refuse(CUDA_ERROR_INVALID_CONTEXT,
                          "released more often than retained");
        emu_knobs.retained--;
        if (!--primary.retained) {
            destroy(primary.context);
            primary.context = nullptr;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    return call(__func__, initialized, [&] {
        *context = current_context();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    return call(__func__, initialized, [&] {
        CUresult result = context ? check_handle(context) : CUDA_SUCCESS;

        if (result != CUDA_SUCCESS)
            return result;
        if (!context_stack().empty())
            context_stack().pop_back();
        if (context)
            context_stack().push_back(context);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_handle(context);

        if (result != CUDA_SUCCESS)
            return result;
        context_stack().push_back(context);
        emu_knobs.pushed++;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    return call(__func__, initialized, [&] {
        if (context_stack().empty())
            return refuse(CUDA_ERROR_INVALID_CONTEXT,
                          "the thread's stack of contexts is empty");
        if (context)
            *context = context_stack().back();
        context_stack().pop_back();
        emu_knobs.pushed--;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    return call(__func__, in_context, [&] {
        *device = current_context()->device;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSynchronize(void)
{
    return call(__func__, in_context | capture_unsafe, [&] {
        CUcontext context = current_context();
        CUresult result = check_not_capturing(context);

        if (result != CUDA_SUCCESS)
            return result;
        wait_for_context(context);
        return context->error;
    });
}
