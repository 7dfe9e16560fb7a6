/* SPDX-License-Identifier: MIT */
/* Sixteen f16, bf16 or f32 to NVFP4: a scale and two words of codes. Each step
 * is one operation in f32, rounded to nearest even, so that every GPU gives
 * the same bits:
 *
 *   scale = e4m3(global * (max |x| * (1 / 6))), at most 448
 *   code  = e2m1(x * (global / scale)), at most 6
 *
 * What is no number counts as 0, and a block whose scale is 0 is all 0. */
#pragma once
#include <base/types.cuh>
#include <ptx/float.cuh>
#include <ptx/half.cuh>

namespace quant {

/* A pair of elements in a word. */
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
};

constexpr u32 code_offset = 0x4b000000; /* 2^23 as f32 */

/* The nearest code of a y >= 0, ties to even, plus code_offset. Codes are y in
 * steps of 1/2 up to 2, of 1 up to 4, of 2 up to 6. Past 2^23 an f32 is an
 * integer, so that adding it rounds; of the three lines, which meet in even
 * codes, the lowest is the right one. */
__device__ inline u32 e2m1_code(float y)
{
    constexpr float integer = 8388608.0f; /* 2^23 */
    float halves = y * 2 + integer, ones = y + (integer + 2);
    float twos = y * 0.5f + (integer + 4);
    return __float_as_uint(min(min(halves, ones), min(twos, integer + 7)));
}

/* Sign bits of four pairs, at the codes that they belong to. */
__device__ inline u32 signs(u32 w0, u32 w1, u32 w2, u32 w3)
{
    u32 first = ptx::prmt(w0, w1, 0x7531), second = ptx::prmt(w2, w3, 0x7531);
    u32 even = ptx::prmt(first, second, 0x6420);
    u32 odd = ptx::prmt(first, second, 0x7531);
    return ptx::select_bits(odd, even >> 4, 0x80808080) & 0x88888888;
}

/* Codes of the magnitudes of four pairs. */
template <bool bf16>
__device__ inline u32 codes(const u32 *magnitudes, float factor)
{
    u32 word = 0;
#pragma unroll
    for (int i = 3; i >= 0; i--) {
        u32 x = magnitudes[i];
        word =
            word * 16 + e2m1_code(ptx::mul_f32(pair<bf16>::high(x), factor));
        word = word * 16 + e2m1_code(ptx::mul_f32(pair<bf16>::low(x), factor));
    }
    return word - code_offset * 17u; /* the others are shifted out */
}

__device__ inline float magnitude(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0x7fffffff);
}

__device__ inline u32 codes(const float *x, float factor)
{
    u32 word = 0;
#pragma unroll
    for (int i = 7; i >= 0; i--)
        word = word * 16 + e2m1_code(ptx::mul_f32(magnitude(x[i]), factor));
    return word - code_offset * 17u;
}

/* Signs of eight, of which f32 has them where a pair of bf16 does. */
__device__ inline u32 signs(const float *x)
{
    u32 pairs[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        pairs[i] = ptx::prmt(__float_as_uint(x[2 * i]),
                             __float_as_uint(x[2 * i + 1]), 0x7632);
    return signs(pairs[0], pairs[1], pairs[2], pairs[3]);
}

/* The scale of a block with that largest magnitude, and what its elements are
 * multiplied with. A `global` that is no number or not above 0 makes it 0. */
struct block_scale {
    u32 byte;
    float factor;

    __device__ block_scale(float largest, float global)
    {
        constexpr float most = 3.402823466e38f; /* keeps 0 * factor 0 */
        float wanted =
            ptx::mul_f32(global, ptx::mul_f32(largest, 1.0f / 6.0f));
        byte = ptx::cvt_e4m3x2_f32(0, wanted > 0 ? wanted : 0);
        factor = global / ptx::cvt_f32_f16(ptx::cvt_f16x2_e4m3x2(byte));
        factor = factor < most ? factor : most;
    }
};

/* Returns the scale's byte, spoils x. */
template <bool bf16>
__device__ inline u32 quantize(u32 (&x)[8], float global, u32 (&words)[2])
{
    u32 top = 0;
    words[0] = signs(x[0], x[1], x[2], x[3]);
    words[1] = signs(x[4], x[5], x[6], x[7]);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x[i] = pair<bf16>::max(x[i] & 0x7fff7fff, 0);
        top = pair<bf16>::max(top, x[i]);
    }
    block_scale scale(max(pair<bf16>::low(top), pair<bf16>::high(top)),
                      global);
    words[0] |= codes<bf16>(&x[0], scale.factor);
    words[1] |= codes<bf16>(&x[4], scale.factor);
    if (!scale.byte)
        words[0] = words[1] = 0;
    return scale.byte;
}

/* Likewise of f32, none of them no number. */
__device__ inline u32 quantize(const float (&x)[16], float global,
                               u32 (&words)[2])
{
    float largest = 0;
#pragma unroll
    for (int i = 0; i < 16; i++)
        largest = max(largest, magnitude(x[i]));
    block_scale scale(largest, global);
    words[0] = words[1] = 0;
    if (scale.byte) {
        words[0] = signs(&x[0]) | codes(&x[0], scale.factor);
        words[1] = signs(&x[8]) | codes(&x[8], scale.factor);
    }
    return scale.byte;
}

} // namespace quant
