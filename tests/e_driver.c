/* SPDX-License-Identifier: MIT */
/* What the emulated driver refuses: each misuse of the driver API that the
 * library or its tests could make is an error, not a silent success. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdlib.h>

#include "gpu.h"
#include "jitgemm.h"
#include "launch.h"
#include "test.h"

static jitgemm_context *context;
static jitgemm_plan *plan;
static const struct jg_cuda *cuda;

static void make_plan(void)
{
    int64_t m = 8, n = 128, k = 256;
    jitgemm_problem problem = {
        .size = sizeof problem, .groups = 1, .m = &m, .n = &n, .k = &k};

    JITGEMM(jitgemm_context_create(NULL, &context));
    JITGEMM(jitgemm_plan_create(context, &problem, &plan));
    cuda = plan->context->cuda;
}

static void test_memory(void)
{
    char byte = 0;
    CUdeviceptr memory;

    GPU(cuMemAlloc(&memory, 300));
    CHECK_INT(memory % 256, 0);
    CHECK_INT(gpu.cuMemcpyDtoH(&byte, memory + 299, 1), CUDA_SUCCESS);
    CHECK_INT((unsigned char)byte, 0xff); /* poison */
    CHECK_INT(gpu.cuMemcpyDtoH(&byte, memory + 300, 1),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(gpu.cuMemFree(memory + 256), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(gpu.cuMemFree(memory), CUDA_SUCCESS);
    CHECK_INT(gpu.cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(gpu.cuMemcpyHtoD(memory, &byte, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(gpu.cuMemsetD8(memory, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

static void test_context(void)
{
    CUdeviceptr memory;

    GPU(cuCtxSetCurrent(NULL));
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_INT(gpu.cuCtxPushCurrent((CUcontext)&memory),
              CUDA_ERROR_INVALID_CONTEXT);
    GPU(cuCtxSetCurrent(gpu.context));
    CHECK_INT(gpu.cuStreamSynchronize((CUstream)&memory),
              CUDA_ERROR_INVALID_HANDLE);
}

static CUresult launch(unsigned blocks, unsigned threads, unsigned shared)
{
    void *parameters[] = {&plan->table};
    CUlaunchConfig config = {.gridDimX = blocks,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = shared,
                             .hStream = gpu.stream};

    return cuda->cuLaunchKernelEx(
        &config, plan->launches[plan->kernels - 1].function, parameters, NULL);
}

static void test_launch(void)
{
    CUfunction function = plan->launches[plan->kernels - 1].function;
    char image[64] = "no ELF";
    CUlibrary library;

    CHECK_INT(launch(0, 384, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(launch(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(launch(1, 384, 240000), CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(launch(1, 1024, 0), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    CHECK_INT(cuda->cuFuncSetAttribute(
                  function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  232449),
              CUDA_ERROR_INVALID_VALUE);
    CHECK_INT(cuda->cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL,
                                      NULL, 0),
              CUDA_ERROR_INVALID_IMAGE);
}

static void test_tensor_map(void)
{
    cuuint64_t extent[2] = {128, 128}, stride[1] = {128};
    cuuint32_t box[2] = {128, 128}, step[2] = {1, 1};
    static _Alignas(64) char memory[128];
    CUtensorMap map;

    for (int fault = 0; fault < 4; fault++) {
        stride[0] = fault == 1 ? 120 : 128;
        box[1] = fault == 2 ? 257 : 128;
        CHECK_INT(cuda->cuTensorMapEncodeTiled(
                      &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2,
                      memory + (fault == 3 ? 8 : 0), extent, stride, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE,
                      CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                  fault ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
    }
}

/* A call that a capture forbids ends the capture, unless the mode allows it. */
static void test_capture(CUstreamCaptureMode mode, CUresult expected)
{
    CUdeviceptr memory;
    CUgraph graph;

    GPU(cuStreamBeginCapture(gpu.stream, mode));
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), expected);
    CHECK_INT(gpu.cuStreamEndCapture(gpu.stream, &graph),
              expected ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    CHECK_INT(gpu.cuStreamEndCapture(gpu.stream, &graph),
              CUDA_ERROR_ILLEGAL_STATE);
}

static void test_told_to_fail(void)
{
    CUdeviceptr memory;

    setenv("JITGEMM_EMU_FAIL", "cuMemAlloc:2:1", 1);
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_SUCCESS);
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_ERROR_OUT_OF_MEMORY);
    unsetenv("JITGEMM_EMU_FAIL");
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_SUCCESS);
}

/* A kernel reads memory that was freed: its launch fails by name, and so does
 * everything after. Last, since the context stays broken. */
static void test_broken(void)
{
    CUdeviceptr memory;

    GPU(cuMemFree(plan->memory));
    plan->memory = 0;
    plan->table.tiles = 1;
    CHECK_INT(launch(1, 384, plan->launches[plan->kernels - 1].shared_bytes),
              CUDA_ERROR_LAUNCH_FAILED);
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_ERROR_LAUNCH_FAILED);
}

int main(void)
{
    if (!getenv("JITGEMM_LIBCUDA") || !gpu_open())
        return TEST_SKIP;
    make_plan();
    test_memory();
    test_context();
    test_launch();
    test_tensor_map();
    test_capture(CU_STREAM_CAPTURE_MODE_GLOBAL,
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    test_capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    test_capture(CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS);
    test_told_to_fail();
    test_broken();
    return test_end();
}
