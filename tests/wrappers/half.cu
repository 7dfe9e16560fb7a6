/* SPDX-License-Identifier: MIT */
/* Word i of the output is an operation on words 2i and 2i + 1 of the input. */
#include "job.h"

#include <base/types.cuh>
#include <mma/nvfp4.cuh>
#include <ptx/half.cuh>

/* The second word: a scale, then the number of a pair. */
template <int type> __device__ inline u32 decoded(u32 codes, u32 rest)
{
    using to = mma::nvfp4_to<type>;
    return to::scaled(typename to::spread(codes).pair(rest >> 8),
                      to::factors(rest & 0x7f), 0);
}

__device__ inline u32 half_result(const wrapper_job &job, int i)
{
    const u32 *words = reinterpret_cast<const u32 *>(job.in) + 2 * i;
    const float *floats = reinterpret_cast<const float *>(job.in) + 2 * i;

    switch (job.what) {
    case HALF_MUL_LOW:
        return ptx::mul_f16x2_half(words[0], words[1], 0);
    case HALF_MUL_HIGH:
        return ptx::mul_f16x2_half(words[0], words[1], 1);
    case HALF_MUL_BF16_LOW:
        return ptx::mul_bf16x2_half(words[0], words[1], 0);
    case HALF_MUL_BF16_HIGH:
        return ptx::mul_bf16x2_half(words[0], words[1], 1);
    case HALF_SELECT:
        return ptx::select_bits(words[0], words[1], words[0] * 2654435761u);
    case HALF_E4M3:
        return ptx::cvt_f16x2_e4m3x2(words[0]);
    case HALF_F32:
        return ptx::cvt_f16x2_f32(floats[0], floats[1]);
    case HALF_BF16:
        return ptx::cvt_bf16x2_f32(floats[0], floats[1]);
    case HALF_DECODE: /* what the two are for */
        return decoded<JG_F16>(words[0], words[1]);
    default:
        return decoded<JG_BF16>(words[0], words[1]);
    }
}

extern "C" __global__ void wrap_half(const wrapper_job job)
{
    u32 *out = reinterpret_cast<u32 *>(job.out);

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < job.count;
         i += gridDim.x * blockDim.x)
        out[i] = half_result(job, i);
}
