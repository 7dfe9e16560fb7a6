/* SPDX-License-Identifier: MIT */
/* A libcuda without a GPU: host memory for device memory, launches that do
 * nothing, and any call failed on demand. Counts what tests ask about. Knows
 * one device, its primary context and nothing else. */
#include "fake_cuda.h"

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct fake_cuda fake_cuda = {.version = 13000, .major = 9, .minor = 0};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Per thread, as in the real one; depth 0 means none is current. */
static _Thread_local CUcontext stack[8];
static _Thread_local int depth;

#define THE_CONTEXT ((CUcontext)&fake_cuda)
#define SOMETHING(type) ((type)&fake_cuda)

/* Counts a call and decides whether it fails. cuda.h renames some functions
 * to name_v2: the beginning of a name counts. */
static CUresult enter(const char *name, int *count, int step)
{
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&lock);
    fake_cuda.calls++;
    if (fake_cuda.fail &&
        strncmp(name, fake_cuda.fail, strlen(fake_cuda.fail)) == 0 &&
        fake_cuda.fail_after-- <= 0)
        result = (CUresult)fake_cuda.fail_result;
    else if (count)
        *count += step;
    pthread_mutex_unlock(&lock);
    return result;
}

#define ENTER(count, step)                                                    \
    do {                                                                      \
        CUresult result_ = enter(__func__, count, step);                      \
        if (result_ != CUDA_SUCCESS)                                          \
            return result_;                                                   \
    } while (0)

CUresult cuInit(unsigned flags)
{
    (void)flags;
    ENTER(NULL, 0);
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    ENTER(NULL, 0);
    *version = fake_cuda.version;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    *name = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                               : "CUDA_ERROR_FAKE";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    (void)result;
    *text = "as told";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER(NULL, 0);
    if (ordinal != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    (void)device;
    ENTER(NULL, 0);
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
                 ? fake_cuda.major
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
                 ? fake_cuda.minor
                 : 132;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    ENTER(&fake_cuda.retained, 1);
    *context = THE_CONTEXT;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    ENTER(&fake_cuda.retained, -1);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    ENTER(NULL, 0);
    *context = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    ENTER(NULL, 0);
    *device = 0;
    return depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    ENTER(&fake_cuda.pushed, 1);
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    ENTER(&fake_cuda.pushed, -1);
    *context = stack[--depth];
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
                           CUjit_option *options, void **values,
                           unsigned count, CUlibraryOption *library_options,
                           void **library_values, unsigned library_count)
{
    (void)options;
    (void)values;
    (void)count;
    (void)library_options;
    (void)library_values;
    (void)library_count;
    ENTER(&fake_cuda.loads, 1);
    if (memcmp(code, "\177ELF", 4) != 0)
        return CUDA_ERROR_INVALID_IMAGE;
    *library = SOMETHING(CUlibrary);
    return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    (void)library;
    ENTER(&fake_cuda.loads, -1);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
                            const char *name)
{
    (void)library;
    (void)name;
    ENTER(NULL, 0);
    *kernel = SOMETHING(CUkernel);
    return CUDA_SUCCESS;
}

/* Kernels belong to a context only from here on. */
CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    (void)kernel;
    ENTER(NULL, 0);
    *function = SOMETHING(CUfunction);
    return depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which,
                            int value)
{
    (void)function;
    (void)which;
    (void)value;
    ENTER(NULL, 0);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
    ENTER(&fake_cuda.allocations, 1);
    *memory = (CUdeviceptr)(uintptr_t)malloc(bytes);
    return depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuMemFree(CUdeviceptr memory)
{
    ENTER(&fake_cuda.allocations, -1);
    free((void *)(uintptr_t)memory);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream stream)
{
    (void)stream;
    ENTER(&fake_cuda.uploads, 1);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    ENTER(NULL, 0);
    *status = fake_cuda.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                  : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    (void)mode;
    ENTER(NULL, 0);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *extent, const cuuint64_t *stride, const cuuint32_t *box,
    const cuuint32_t *step, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill)
{
    (void)type;
    (void)rank;
    (void)extent;
    (void)box;
    (void)step;
    (void)interleave;
    (void)swizzle;
    (void)promotion;
    (void)fill;
    ENTER(NULL, 0);
    if ((uintptr_t)address % 16 || stride[0] % 16)
        return CUDA_ERROR_INVALID_VALUE;
    memset(map, 1, sizeof *map);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra)
{
    (void)function;
    (void)parameters;
    (void)extra;
    ENTER(&fake_cuda.launches, 1);
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    return config->gridDimX && config->blockDimX ? CUDA_SUCCESS
                                                 : CUDA_ERROR_INVALID_VALUE;
}
