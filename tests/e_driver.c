/* SPDX-License-Identifier: MIT */
/* The emulated driver's device memory, tensor maps and failures on demand. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdlib.h>

#include "emu_calls.h"

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

static void test_tensor_map(void)
{
    cuuint64_t extent[2] = {128, 128}, stride[1] = {128};
    cuuint32_t box[2] = {128, 128}, step[2] = {1, 1};
    static _Alignas(64) char memory[128];
    CUtensorMap map;

    for (int fault = 0; fault < 4; fault++) {
        stride[0] = fault == 1 ? 120 : 128;
        box[1] = fault == 2 ? 257 : 128;
        CHECK_INT(emu.cuTensorMapEncodeTiled(
                      &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2,
                      memory + (fault == 3 ? 8 : 0), extent, stride, box, step,
                      CU_TENSOR_MAP_INTERLEAVE_NONE,
                      CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                  fault ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
    }
}

/* Knobs before the environment; the n-th call or any that takes memory. */
static void test_told_to_fail(void)
{
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;

    setenv("JITGEMM_EMU_FAIL", "cuMemAlloc:2:1", 1);
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_SUCCESS);
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_ERROR_OUT_OF_MEMORY);
    unsetenv("JITGEMM_EMU_FAIL");
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_SUCCESS);
    knobs->fail = "cuStreamCreate";
    knobs->fail_result = CUDA_ERROR_UNKNOWN;
    knobs->fail_after = 1;
    CHECK_INT(gpu.cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    CHECK_INT(gpu.cuStreamCreate(&stream, 0), CUDA_ERROR_UNKNOWN);
    CHECK_STR(knobs->failed, "cuStreamCreate");
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_SUCCESS);
    knobs->fail = "allocation";
    knobs->fail_after = 2;
    CHECK_INT(gpu.cuMemFree(memory), CUDA_SUCCESS);
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_SUCCESS);
    CHECK_INT(gpu.cuEventCreate(&event, 0), CUDA_SUCCESS);
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), CUDA_ERROR_UNKNOWN);
    knobs->fail = NULL;
    CHECK_INT(gpu.cuMemFree(memory), CUDA_SUCCESS);
}

int main(void)
{
    if (!getenv("JITGEMM_LIBCUDA") || !emu_open())
        return TEST_SKIP;
    test_memory();
    test_tensor_map();
    test_told_to_fail();
    return test_end();
}
