/* SPDX-License-Identifier: MIT */
/* Two f16 or bf16 in a word. */
#pragma once
#include <base/types.cuh>
#include <ptx/float.cuh>
#include <ptx/half.cuh>

namespace quant {

template <bool bf16> struct pair {
    __device__ static u32 max(u32 a, u32 b)
    {
        return bf16 ? ptx::max_bf16x2(a, b) : ptx::max_f16x2(a, b);
    }
    __device__ static float low(u32 x)
    {
        return bf16 ? __uint_as_float(x << 16) : ptx::cvt_f32_f16(x);
    }
    __device__ static float high(u32 x)
    {
        return bf16 ? __uint_as_float(x & 0xffff0000)
                    : ptx::cvt_f32_f16(x >> 16);
    }
    /* Rounded to nearest even. */
    __device__ static u32 of(float low, float high)
    {
        return bf16 ? ptx::cvt_bf16x2_f32(high, low)
                    : ptx::cvt_f16x2_f32(high, low);
    }
};

} // namespace quant
