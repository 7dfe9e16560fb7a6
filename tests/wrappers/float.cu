/* SPDX-License-Identifier: MIT */
/* Word i of the output is an operation on words 2i and 2i + 1 of the input, or
 * on word 2i of all lanes. Whole warps go through the loop together. */
#include "job.h"

#include <base/types.cuh>
#include <ptx/float.cuh>
#include <ptx/warp.cuh>
#include <quant/swiglu.cuh>

/* What is no number has other bits elsewhere. */
__device__ inline u32 bits_of(float x)
{
    return x != x ? 0x7fffffff : __float_as_uint(x);
}

__device__ inline u32 float_result(const wrapper_job &job, int i)
{
    const u32 *words = reinterpret_cast<const u32 *>(job.in) + 2 * i;
    const float *floats = reinterpret_cast<const float *>(job.in) + 2 * i;

    switch (job.what) {
    case FLOAT_MAX_F16:
        return ptx::max_f16x2(words[0], words[1]);
    case FLOAT_MAX_BF16:
        return ptx::max_bf16x2(words[0], words[1]);
    case FLOAT_MAX_NAN_F16:
        return ptx::max_nan_f16x2(words[0], ptx::abs_f16x2(words[1]));
    case FLOAT_MIN_U16:
        return ptx::min_u16x2(words[0], words[1]);
    case FLOAT_MAX_NAN: {
        float most = ptx::max_nan_f32(floats[0], ptx::abs_f32(floats[1]));
        return bits_of(most == 0 ? 0 : most); /* of any sign */
    }
    case FLOAT_RCP: /* off by one unit in the last place at most */
        return ptx::abs_f32(ptx::fma_f32(
                   floats[0], ptx::rcp_approx_f32(floats[0]), -1.0f)) <
               0x1p-22f;
    case FLOAT_RECIPROCAL: /* which is to be the same everywhere */
        return bits_of(quant::reciprocal(floats[0]));
    case FLOAT_F16:
        return bits_of(ptx::cvt_f32_f16(words[0]));
    case FLOAT_E4M3:
        return ptx::cvt_e4m3x2_f32(floats[0], floats[1]);
    case FLOAT_MUL:
        /* The sum would be fused, if it could. */
        return bits_of(ptx::mul_f32(floats[0], floats[1]) + 1.0f);
    case FLOAT_FMA:
        /* Less what is rounded of the product, if that were alone. */
        return bits_of(
            ptx::fma_f32(floats[0], floats[1], -(floats[0] * floats[1])));
    case FLOAT_SWIGLU: /* which is to be the same everywhere */
        return bits_of(quant::swiglu(floats[0], floats[1]));
    case FLOAT_SWIGLU_OAI: /* likewise */
        return bits_of(quant::swiglu_oai(floats[0], floats[1]));
    case FLOAT_PRMT:
        return ptx::prmt(words[0], words[1], words[0] * 2654435761u);
    case FLOAT_REDUX_MIN:
        return ptx::redux_min(words[0]);
    case FLOAT_REDUX_ADD:
        return ptx::redux_add(words[0]);
    default:
        return ptx::shfl_up(words[0], u32(i / 32) % 32);
    }
}

extern "C" __global__ void wrap_float(const wrapper_job job)
{
    u32 *out = reinterpret_cast<u32 *>(job.out);

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < job.count;
         i += gridDim.x * blockDim.x)
        out[i] = float_result(job, i);
}
