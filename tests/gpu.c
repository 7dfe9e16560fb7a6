/* SPDX-License-Identifier: MIT */
/* The driver, for tests. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


struct gpu gpu;

#define TEXT(name) #name
#define EXPANDED_TEXT(name) TEXT(name)
#define GPU_FIND(name)                                                        \
    address = dlsym(library, EXPANDED_TEXT(name));                            \
    if (!address) {                                                           \
        printf("skipped: the driver has no %s\n", EXPANDED_TEXT(name));       \
        return false;                                                         \
    }                                                                         \
    memcpy(&gpu.name, &address, sizeof address);

static bool find_functions(void *library)
{
    void *address;

    GPU_FUNCTIONS(GPU_FIND)
    return true;
}

bool gpu_open(void)
{
    const char *path = getenv("JITGEMM_LIBCUDA");
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    CUdevice device;
    CUresult result;

    if (!library) {
        printf("skipped: no CUDA driver: %s\n", dlerror());
        return false;
    }
    if (!find_functions(library))
        return false;
    result = gpu.cuInit(0);
    if (result == CUDA_SUCCESS)
        result = gpu.cuDeviceGet(&device, 0);
    if (result != CUDA_SUCCESS) {
        printf("skipped: no GPU (%d)\n", (int)result);
        return false;
    }
    GPU(cuDeviceGetName(gpu.name, sizeof gpu.name, device));
    GPU(cuDevicePrimaryCtxRetain(&gpu.context, device));
    GPU(cuCtxSetCurrent(gpu.context));
    GPU(cuStreamCreate(&gpu.stream, CU_STREAM_NON_BLOCKING));
    return true;
}

void gpu_check(CUresult result, const char *what)
{
    const char *name = NULL;

    if (result == CUDA_SUCCESS)
        return;
    gpu.cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s (%d)\n", what, name ? name : "?", (int)result);
    exit(1);
}

void *gpu_alloc(size_t bytes)
{
    CUdeviceptr memory;

    GPU(cuMemAlloc(&memory, bytes ? bytes : 1));
    return (void *)(uintptr_t)memory;
}

void *gpu_upload(const void *from, size_t bytes)
{
    void *memory = gpu_alloc(bytes);

    if (bytes)
        GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)memory, from, bytes));
    GPU(cuStreamSynchronize(NULL)); /* it may return before it has landed */
    return memory;
}

void gpu_download(void *to, const void *from, size_t bytes)
{
    if (bytes)
        GPU(cuMemcpyDtoH(to, (CUdeviceptr)(uintptr_t)from, bytes));
}

void gpu_free(void *memory)
{
    if (memory)
        GPU(cuMemFree((CUdeviceptr)(uintptr_t)memory));
}

void gpu_sync(void)
{
    GPU(cuStreamSynchronize(gpu.stream));
}

void gpu_jitgemm(jitgemm_status status, const char *what)
{
    if (status == JITGEMM_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what,
            jitgemm_status_string(status),
            jitgemm_last_error()->text);
    exit(1);
}
