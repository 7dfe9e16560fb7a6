/* SPDX-License-Identifier: MIT */
/* libcuda and libnvrtc, opened at run time: the only doors to CUDA. Both stay
 * open until the process ends. */
#ifndef JG_DRIVER_H
#define JG_DRIVER_H

#include <cuda.h>
#include <nvrtc.h>

#include "env.h"
#include "status.h"

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
    _(cuStreamIsCapturing)                                                    \
    _(cuTensorMapEncodeTiled)                                                 \
    _(cuThreadExchangeStreamCaptureMode)

#define JG_NVRTC_FUNCTIONS(_)                                                 \
    _(nvrtcCompileProgram)                                                    \
    _(nvrtcCreateProgram)                                                     \
    _(nvrtcDestroyProgram)                                                    \
    _(nvrtcGetCUBIN)                                                          \
    _(nvrtcGetCUBINSize)                                                      \
    _(nvrtcGetErrorString)                                                    \
    _(nvrtcGetProgramLog)                                                     \
    _(nvrtcGetProgramLogSize)                                                 \
    _(nvrtcVersion)

#define JG_FUNCTION_POINTER(name) __typeof__(name) *name;

struct jg_cuda {
    JG_CUDA_FUNCTIONS(JG_FUNCTION_POINTER)
};

#define JG_BUILD_ID_SIZE 65 /* hex digits and a NUL */

struct jg_nvrtc {
    JG_NVRTC_FUNCTIONS(JG_FUNCTION_POINTER)
    int major, minor;
    /* GNU build ids: they tell patch releases apart, the version does not. */
    char id[JG_BUILD_ID_SIZE], builtins_id[JG_BUILD_ID_SIZE];
};

/* Opens and initializes the driver at the first success. E_NO_DRIVER names
 * every library tried; E_NO_DEVICE if the driver finds no GPU. */
jitgemm_status jg_driver_cuda(const struct jg_env *env,
                              const struct jg_cuda **cuda);

/* Opens NVRTC and its builtins likewise. E_NO_NVRTC names every library tried
 * and why it would not do. */
jitgemm_status jg_driver_nvrtc(const struct jg_env *env,
                               const struct jg_nvrtc **nvrtc);

/* Records a failed driver call: E_MEMORY, E_NO_DEVICE, E_NOT_READY (not while a
 * stream is captured) or E_DRIVER with the code, its name and text. */
jitgemm_status jg_driver_fail(const struct jg_cuda *cuda, CUresult result,
                              const char *call);

#endif
