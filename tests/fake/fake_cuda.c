/* SPDX-License-Identifier: MIT */
/* A libcuda for tests of the host's code under sanitizers, without a compiler
 * or NVRTC: all succeeds and nothing happens, unless a test says otherwise.
 * tests/emu/driver is the one that behaves like the real one. */
#include "fake_cuda.h"

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct fake_cuda fake_cuda = {.version = 13000, .major = 9, .minor = 0};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define SOMETHING(type) ((type)&fake_cuda)

/* cuda.h renames some functions to name_v2: the beginning of a name counts. */
static CUresult enter(const char *name, int loads)
{
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&lock);
    if (fake_cuda.fail &&
        strncmp(name, fake_cuda.fail, strlen(fake_cuda.fail)) == 0 &&
        fake_cuda.fail_after-- <= 0)
        result = (CUresult)fake_cuda.fail_result;
    else
        fake_cuda.loads += loads;
    pthread_mutex_unlock(&lock);
    return result;
}

/* A function that only says it went well, or fails on demand. */
#define NOTHING(name, parameters)                                             \
    CUresult name parameters                                                  \
    {                                                                         \
        return enter(__func__, 0);                                            \
    }
/* One that gives something as well, if it did. */
#define GIVES(name, parameters, give)                                         \
    CUresult name parameters                                                  \
    {                                                                         \
        CUresult entered = enter(__func__, 0);                                \
                                                                              \
        if (entered == CUDA_SUCCESS) {                                        \
            give;                                                             \
        }                                                                     \
        return entered;                                                       \
    }

static _Alignas(256) char memory_of_all[256];

static void keep_copy(const void *from, size_t bytes)
{
    pthread_mutex_lock(&lock);
    memcpy(fake_cuda.copied[0], fake_cuda.copied[1],
           sizeof fake_cuda.copied[0]);
    memset(fake_cuda.copied[1], 0, sizeof fake_cuda.copied[1]);
    memcpy(fake_cuda.copied[1], from,
           bytes < sizeof fake_cuda.copied[1] ? bytes
                                              : sizeof fake_cuda.copied[1]);
    pthread_mutex_unlock(&lock);
}

static void count(int *number, int more)
{
    __atomic_fetch_add(number, more, __ATOMIC_RELAXED);
}

#pragma GCC diagnostic ignored "-Wunused-parameter"

NOTHING(cuInit, (unsigned flags))
GIVES(cuDriverGetVersion, (int *version), *version = fake_cuda.version)
GIVES(cuGetErrorName, (CUresult result, const char **name),
      *name = "CUDA_ERROR_FAKE")
GIVES(cuGetErrorString, (CUresult result, const char **text),
      *text = "as told")
GIVES(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device),
      *context = SOMETHING(CUcontext))
NOTHING(cuDevicePrimaryCtxRelease, (CUdevice device))
GIVES(cuCtxGetCurrent, (CUcontext *context), *context = NULL)
GIVES(cuCtxGetDevice, (CUdevice *device), *device = 0)
NOTHING(cuCtxPushCurrent, (CUcontext context))
NOTHING(cuCtxPopCurrent, (CUcontext *context))
GIVES(cuLibraryGetKernel,
      (CUkernel *kernel, CUlibrary library, const char *name),
      *kernel = SOMETHING(CUkernel))
GIVES(cuKernelGetFunction, (CUfunction *function, CUkernel kernel),
      *function = SOMETHING(CUfunction))
NOTHING(cuFuncSetAttribute,
        (CUfunction function, CUfunction_attribute which, int value))
GIVES(cuMemAlloc, (CUdeviceptr *memory, size_t bytes),
      *memory = (CUdeviceptr)(uintptr_t)memory_of_all;
      count(&fake_cuda.memory, 1))
GIVES(cuMemFree, (CUdeviceptr memory), count(&fake_cuda.memory, -1))
GIVES(cuMemcpyHtoDAsync,
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
      keep_copy(from, bytes))
NOTHING(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes,
                          CUstream stream))
GIVES(cuEventCreate, (CUevent *event, unsigned flags),
      *event = SOMETHING(CUevent);
      count(&fake_cuda.events, 1))
GIVES(cuEventDestroy, (CUevent event), count(&fake_cuda.events, -1))
NOTHING(cuEventRecord, (CUevent event, CUstream stream))
NOTHING(cuEventSynchronize, (CUevent event))
#undef cuEventElapsedTime /* see lib/driver.h */
GIVES(cuEventElapsedTime, (float *ms, CUevent begin, CUevent end),
      *ms = fake_cuda.shared == fake_cuda.fast ? fake_cuda.fast_ms : 1)
GIVES(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status),
      *status = CU_STREAM_CAPTURE_STATUS_NONE)
NOTHING(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode))
CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *extent, const cuuint64_t *stride, const cuuint32_t *box,
    const cuuint32_t *step, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill)
{
    CUresult entered = enter(__func__, 0);
    struct fake_map *seen = &fake_cuda.maps[fake_cuda.map_count % 8];

    if (entered != CUDA_SUCCESS)
        return entered;
    *seen = (struct fake_map){
        address,
        (int)type,
        (int)rank,
        (int)interleave,
        (int)swizzle,
        (int)promotion,
        (int)fill,
        {(long long)extent[0], (long long)extent[1]},
        (long long)stride[0],
        {(int)box[0], (int)box[1]},
        {(int)step[0], (int)step[1]},
    };
    fake_cuda.map_count++;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra)
{
    CUresult entered = enter(__func__, 0);

    if (entered != CUDA_SUCCESS)
        return entered;
    fake_cuda.grid = (int)config->gridDimX;
    fake_cuda.block = (int)config->blockDimX;
    fake_cuda.shared = (int)config->sharedMemBytes;
    fake_cuda.cluster = 0;
    fake_cuda.launches++;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];

        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            fake_cuda.cluster = (int)attribute->value.clusterDim.x;
        if (attribute->id ==
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            fake_cuda.early +=
                attribute->value.programmaticStreamSerializationAllowed;
    }
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = 0;
    return ordinal ? CUDA_ERROR_INVALID_DEVICE : enter(__func__, 0);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
                 ? fake_cuda.major
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
                 ? fake_cuda.minor
                 : 132;
    return enter(__func__, 0);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
                           CUjit_option *options, void **values,
                           unsigned count, CUlibraryOption *library_options,
                           void **library_values, unsigned library_count)
{
    CUresult entered = enter(__func__, 1);

    if (entered == CUDA_SUCCESS)
        *library = SOMETHING(CUlibrary);
    return entered;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return enter(__func__, -1);
}
