/* SPDX-License-Identifier: MIT */
/* The driver as the GPU tests and the benchmark use it: device memory, copies,
 * streams, graphs. A failed call ends the program with the reason. */
#ifndef GPU_H
#define GPU_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "jitgemm.h"

#define GPU_FUNCTIONS(_)                                                      \
    _(cuCtxGetCurrent)                                                        \
    _(cuCtxPushCurrent)                                                       \
    _(cuCtxSetCurrent)                                                        \
    _(cuCtxSynchronize)                                                       \
    _(cuDeviceGet)                                                            \
    _(cuDeviceGetName)                                                        \
    _(cuDevicePrimaryCtxRetain)                                               \
    _(cuDriverGetVersion)                                                     \
    _(cuEventCreate)                                                          \
    _(cuEventDestroy)                                                         \
    _(cuEventElapsedTime)                                                     \
    _(cuEventRecord)                                                          \
    _(cuEventSynchronize)                                                     \
    _(cuGetErrorName)                                                         \
    _(cuGraphDestroy)                                                         \
    _(cuGraphExecDestroy)                                                     \
    _(cuGraphInstantiate)                                                     \
    _(cuGraphLaunch)                                                          \
    _(cuInit)                                                                 \
    _(cuMemAlloc)                                                             \
    _(cuMemAllocHost)                                                         \
    _(cuMemFree)                                                              \
    _(cuMemcpyDtoDAsync)                                                      \
    _(cuMemcpyDtoH)                                                           \
    _(cuMemcpyHtoD)                                                           \
    _(cuMemsetD8)                                                             \
    _(cuMemsetD16)                                                            \
    _(cuStreamBeginCapture)                                                   \
    _(cuStreamCreate)                                                         \
    _(cuStreamEndCapture)                                                     \
    _(cuStreamSynchronize)

#define GPU_POINTER(name) __typeof__(name) *name;
struct gpu {
    GPU_FUNCTIONS(GPU_POINTER)
    CUcontext context;
    CUstream stream;
    char name[64];
};
extern struct gpu gpu;

/* Opens device 0 and makes its primary context current; false, after saying
 * why, if there is no driver or no GPU. */
bool gpu_open(void);

/* Ends the program unless the result is success. */
void gpu_check(CUresult result, const char *what);
#define GPU(call) gpu_check(gpu.call, #call)

void *gpu_alloc(size_t bytes);                  /* exactly as many */
void *gpu_upload(const void *from, size_t bytes); /* into fresh memory */
void gpu_download(void *to, const void *from, size_t bytes);
void gpu_free(void *memory);
void gpu_sync(void);

/* Ends the program, with the library's last error, unless it succeeded. */
void gpu_jitgemm(jitgemm_status status, const char *what);
#define JITGEMM(call) gpu_jitgemm(call, #call)

#endif
