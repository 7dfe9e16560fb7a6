/* SPDX-License-Identifier: MIT */
/* libcuda, opened at run time and open until the process ends. */
#ifndef JG_DRIVER_H
#define JG_DRIVER_H

#include <cuda.h>

#include "env.h"
#include "status.h"

/* Drivers before 12.8 do not have what cuda.h renames this one to; both are
 * called alike. */
#undef cuEventElapsedTime
CUresult CUDAAPI cuEventElapsedTime(float *ms, CUevent begin, CUevent end);

/* Every function used, once. cuda.h renames some of them by macro to the
 * version it declares; the names below follow it. */
#define JG_CUDA_FUNCTIONS(_)                                                  \
    _(cuCtxGetCurrent)                                                        \
    _(cuCtxGetDevice)                                                         \
    _(cuCtxPopCurrent)                                                        \
    _(cuCtxPushCurrent)                                                       \
    _(cuDeviceGet)                                                            \
    _(cuDeviceGetAttribute)                                                   \
    _(cuDevicePrimaryCtxRelease)                                              \
    _(cuDevicePrimaryCtxRetain)                                               \
    _(cuDriverGetVersion)                                                     \
    _(cuEventCreate)                                                          \
    _(cuEventDestroy)                                                         \
    _(cuEventElapsedTime)                                                     \
    _(cuEventRecord)                                                          \
    _(cuEventSynchronize)                                                     \
    _(cuFuncSetAttribute)                                                     \
    _(cuGetErrorName)                                                         \
    _(cuGetErrorString)                                                       \
    _(cuInit)                                                                 \
    _(cuKernelGetFunction)                                                    \
    _(cuLaunchKernelEx)                                                       \
    _(cuLibraryGetKernel)                                                     \
    _(cuLibraryLoadData)                                                      \
    _(cuLibraryUnload)                                                        \
    _(cuMemAlloc)                                                             \
    _(cuMemFree)                                                              \
    _(cuMemcpyHtoDAsync)                                                      \
    _(cuMemsetD8Async)                                                        \
    _(cuStreamIsCapturing)                                                    \
    _(cuTensorMapEncodeTiled)                                                 \
    _(cuThreadExchangeStreamCaptureMode)

#define JG_FUNCTION_POINTER(name) __typeof__(name) *name;

struct jg_cuda {
    JG_CUDA_FUNCTIONS(JG_FUNCTION_POINTER)
    int version; /* the newest CUDA that it supports: 13000 is 13.0 */
    unsigned generation; /* jg_fork_generation() when it was opened */
};

/* Opens and initializes the driver at the first success. E_NO_DRIVER names
 * every library tried; E_NO_DEVICE if the driver finds no GPU; E_FORKED as
 * jg_driver_alive(). */
jitgemm_status jg_driver_cuda(const struct jg_env *env,
                              const struct jg_cuda **cuda);

/* Whether what the driver made in this process's past still works: E_FORKED in
 * a child, where CUDA never does. */
jitgemm_status jg_driver_alive(const struct jg_cuda *cuda);

/* The newest major version of NVRTC whose cubins it loads; 0, for any, if there
 * is no driver. */
int jg_driver_newest(const struct jg_cuda *cuda);

/* Records a failed driver call: E_MEMORY, E_NO_DEVICE, E_NOT_READY (not while a
 * stream is captured) or E_DRIVER with the code, its name and text. */
jitgemm_status jg_driver_fail(const struct jg_cuda *cuda, CUresult result,
                              const char *call);

#endif
