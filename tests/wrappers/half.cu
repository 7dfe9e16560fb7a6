/* SPDX-License-Identifier: MIT */
/* Word i of the output is an operation on words 2i and 2i + 1 of the input. */
#include "job.h"

#include <base/types.cuh>
#include <mma/nvfp4.cuh>
#include <ptx/half.cuh>

__device__ inline u32 half_result(const wrapper_job &job, int i)
{
    const u32 *words = reinterpret_cast<const u32 *>(job.in) + 2 * i;
    const float *floats = reinterpret_cast<const float *>(job.in) + 2 * i;

    switch (job.what) {
    case HALF_MUL_LOW:
        return ptx::mul_f16x2_half(words[0], words[1], 0);
    case HALF_MUL_HIGH:
        return ptx::mul_f16x2_half(words[0], words[1], 1);
    case HALF_SELECT:
        return ptx::select_bits(words[0], words[1], words[0] * 2654435761u);
    case HALF_E4M3:
        return ptx::cvt_f16x2_e4m3x2(words[0]);
    case HALF_F32:
        return ptx::cvt_f16x2_f32(floats[0], floats[1]);
    case HALF_BF16:
        return ptx::cvt_bf16x2_f32(floats[0], floats[1]);
    default: /* what the two are for */
        return ptx::mul_f16x2_half(mma::spread(words[0]).pair(words[1] >> 8),
                                   ptx::cvt_f16x2_e4m3x2(words[1] & 0x7f), 0);
    }
}

extern "C" __global__ void wrap_half(const wrapper_job job)
{
    u32 *out = reinterpret_cast<u32 *>(job.out);

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < job.count;
         i += gridDim.x * blockDim.x)
        out[i] = half_result(job, i);
}
