/* SPDX-License-Identifier: MIT */
/* The few CUDA driver functions that the examples call, found at run time, so
 * that they build where no driver is installed. A program that links libcuda
 * needs none of this. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CUDA_FUNCTIONS(_)                                                    \
    _(cuInit) _(cuDeviceGet) _(cuDevicePrimaryCtxRetain)                     \
    _(cuCtxPushCurrent) _(cuCtxGetCurrent) _(cuMemAlloc) _(cuMemFree)        \
    _(cuMemcpyHtoD) _(cuMemcpyDtoH) _(cuStreamCreate)                        \
    _(cuStreamSynchronize) _(cuStreamDestroy) _(cuStreamBeginCapture)        \
    _(cuStreamEndCapture) _(cuGraphInstantiate) _(cuGraphLaunch)             \
    _(cuGraphExecDestroy) _(cuGraphDestroy)

/* cuda.h renames some functions by macro (cuMemAlloc is cuMemAlloc_v2): the
 * name to look up is the expanded one. */
#define CUDA_NAME(name)          CUDA_NAME_EXPANDED(name)
#define CUDA_NAME_EXPANDED(name) #name

#ifdef __cplusplus /* where a member may not hide what its type is made of */
#define CUDA_GLOBAL(name) ::name
#else
#define CUDA_GLOBAL(name) name
#endif

static struct {
#define CUDA_POINTER(name) __typeof__(CUDA_GLOBAL(name)) *name;
    CUDA_FUNCTIONS(CUDA_POINTER)
#undef CUDA_POINTER
} cuda;

static void cuda_find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    if (!address) {
        fprintf(stderr, "libcuda has no %s\n", name);
        exit(EXIT_FAILURE);
    }
    memcpy(function, &address, sizeof address); /* ISO C has no such cast */
}

/* Fills `cuda`. JITGEMM_LIBCUDA names another library, as for libjitgemm. */
static void cuda_load(void)
{
    const char *name = getenv("JITGEMM_LIBCUDA");
    void *library = dlopen(name && *name ? name : "libcuda.so.1", RTLD_NOW);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
#define CUDA_FIND(name) cuda_find(library, CUDA_NAME(name), &cuda.name);
    CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
}

/* Ends the program on an error: `must_cuda(cuda.cuInit(0));`. */
static void must_cuda(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "CUDA error %d\n", (int)result);
        exit(EXIT_FAILURE);
    }
}

/* Makes the primary context of device 0 current; the same that a context of
 * libjitgemm uses by default. */
static void cuda_open(void)
{
    CUcontext context;
    CUdevice device;

    cuda_load();
    must_cuda(cuda.cuInit(0));
    must_cuda(cuda.cuDeviceGet(&device, 0));
    must_cuda(cuda.cuDevicePrimaryCtxRetain(&context, device));
    must_cuda(cuda.cuCtxPushCurrent(context));
}

/* Device memory with a copy of `bytes`; NULL for none at all. */
static void *to_device(const void *bytes, size_t size)
{
    CUdeviceptr address = 0;

    if (size) {
        must_cuda(cuda.cuMemAlloc(&address, size));
        must_cuda(cuda.cuMemcpyHtoD(address, bytes, size));
    }
    return (void *)(uintptr_t)address;
}

static void from_device(void *bytes, const void *device, size_t size)
{
    if (size)
        must_cuda(cuda.cuMemcpyDtoH(bytes, (uintptr_t)device, size));
}

/* NULL is allowed. */
static void free_device(const void *device)
{
    if (device)
        must_cuda(cuda.cuMemFree((uintptr_t)device));
}

/* The clock of the examples; wait for the stream before reading it. */
static inline double now_us(void)
{
    struct timespec now;

    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

#endif
