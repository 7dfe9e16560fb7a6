/* SPDX-License-Identifier: MIT */
/* The device, its one primary context, and each thread's stack of contexts. */
#include "device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

namespace emu_driver {

std::recursive_mutex lock;

namespace {

struct model {
    const char *name, *title;
    int major, minor, sms;
};
const model models[] = {{"h200", "Emulated H200", 9, 0, 132},
                        {"b200", "Emulated B200", 10, 0, 148},
                        {"rtx5090", "Emulated RTX 5090", 12, 0, 170}};

bool initialized;
int retained; /* the primary context, so many times */
CUresult broken = CUDA_SUCCESS;
thread_local std::vector<CUcontext> contexts;

CUcontext primary()
{
    return reinterpret_cast<CUcontext>(&retained);
}

const model *device()
{
    const char *wanted = getenv("JITGEMM_EMU_DEVICE");

    for (const model &model : models)
        if (!strcmp(wanted && *wanted ? wanted : "h200", model.name))
            return &model;
    return nullptr;
}

/* Names in cuda.h are macros for NAME_v2: the beginning counts. */
bool told_to_fail(const char *name, CUresult *result)
{
    static int successes;
    const char *told = getenv("JITGEMM_EMU_FAIL");
    size_t length = told ? strcspn(told, ":") : 0;
    int code = CUDA_ERROR_OUT_OF_MEMORY, after = 0;

    if (!length || strncmp(name, told, length) ||
        (name[length] && name[length] != '_'))
        return false;
    sscanf(told + length, ":%d:%d", &code, &after);
    *result = static_cast<CUresult>(code);
    return successes++ >= after;
}

} // namespace

CUresult refuse(CUresult result, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fputs("emulated driver: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    return result;
}

CUresult enter(const char *name, needs what)
{
    CUresult result;

    if (told_to_fail(name, &result))
        return result;
    if (what >= INITIALIZED && !initialized)
        return refuse(CUDA_ERROR_NOT_INITIALIZED, "%s before cuInit", name);
    if (what < CURRENT_CONTEXT)
        return CUDA_SUCCESS;
    if (contexts.empty() || contexts.back() != primary())
        return refuse(CUDA_ERROR_INVALID_CONTEXT,
                      "%s: the thread has no current context", name);
    if (!retained)
        return refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                      "%s: the primary context was released", name);
    return broken;
}

CUresult break_context(CUresult result)
{
    return broken = result;
}

} // namespace emu_driver

using namespace emu_driver;

CUresult cuInit(unsigned)
{
    EMU_ENTER(NOTHING);
    if (!device())
        return refuse(CUDA_ERROR_NO_DEVICE,
                      "JITGEMM_EMU_DEVICE is not h200, b200 or rtx5090");
    initialized = true;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    EMU_ENTER(NOTHING);
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *handle, int ordinal)
{
    EMU_ENTER(INITIALIZED);
    *handle = 0;
    return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice)
{
    EMU_ENTER(INITIALIZED);
    snprintf(name, static_cast<size_t>(size), "%s", device()->title);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice)
{
    EMU_ENTER(INITIALIZED);
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = device()->major;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = device()->minor;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = device()->sms;
        return CUDA_SUCCESS;
    default:
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "cuDeviceGetAttribute: attribute %d is not emulated",
                      static_cast<int>(attribute));
    }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice)
{
    EMU_ENTER(INITIALIZED);
    retained++;
    *context = primary();
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice)
{
    EMU_ENTER(INITIALIZED);
    if (!retained)
        return refuse(CUDA_ERROR_INVALID_CONTEXT,
                      "cuDevicePrimaryCtxRelease: not retained");
    retained--;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    EMU_ENTER(INITIALIZED);
    *context = contexts.empty() ? nullptr : contexts.back();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    EMU_ENTER(INITIALIZED);
    if (!contexts.empty())
        contexts.pop_back();
    if (context)
        contexts.push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    EMU_ENTER(INITIALIZED);
    if (context != primary())
        return refuse(CUDA_ERROR_INVALID_CONTEXT,
                      "cuCtxPushCurrent: %p is no context",
                      static_cast<void *>(context));
    contexts.push_back(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    EMU_ENTER(INITIALIZED);
    if (contexts.empty())
        return refuse(CUDA_ERROR_INVALID_CONTEXT,
                      "cuCtxPopCurrent: the thread has none");
    *context = contexts.back();
    contexts.pop_back();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *handle)
{
    EMU_ENTER(CURRENT_CONTEXT);
    *handle = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    EMU_ENTER_UNSAFE();
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    switch (result) {
#define EMU_NAME(code)                                                        \
    case code:                                                                \
        *name = #code;                                                        \
        return CUDA_SUCCESS
        EMU_NAME(CUDA_SUCCESS);
        EMU_NAME(CUDA_ERROR_INVALID_VALUE);
        EMU_NAME(CUDA_ERROR_OUT_OF_MEMORY);
        EMU_NAME(CUDA_ERROR_NOT_INITIALIZED);
        EMU_NAME(CUDA_ERROR_NO_DEVICE);
        EMU_NAME(CUDA_ERROR_INVALID_DEVICE);
        EMU_NAME(CUDA_ERROR_INVALID_IMAGE);
        EMU_NAME(CUDA_ERROR_INVALID_CONTEXT);
        EMU_NAME(CUDA_ERROR_NO_BINARY_FOR_GPU);
        EMU_NAME(CUDA_ERROR_INVALID_HANDLE);
        EMU_NAME(CUDA_ERROR_NOT_FOUND);
        EMU_NAME(CUDA_ERROR_ILLEGAL_ADDRESS);
        EMU_NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EMU_NAME(CUDA_ERROR_LAUNCH_FAILED);
        EMU_NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        EMU_NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        EMU_NAME(CUDA_ERROR_ILLEGAL_STATE);
#undef EMU_NAME
    default:
        *name = "CUDA_ERROR_EMULATED";
        return CUDA_SUCCESS;
    }
}

CUresult cuGetErrorString(CUresult, const char **text)
{
    *text = "from the emulated driver";
    return CUDA_SUCCESS;
}
