/* SPDX-License-Identifier: MIT */
/* Sixteen f16, bf16 or f32 to NVFP4: a scale and two words of codes. Each step
 * is one operation in f32, rounded to nearest even, so that every GPU gives
 * the same bits:
 *
 *   scale = e4m3(global * (max |x| * (1 / 6))), at most 448
 *   code  = e2m1(x * (global / scale)), at most 6
 *
 * What is no number counts as 0, a quotient past f32 as the largest f32, and a
 * block whose scale is 0 is all 0. */
#pragma once
#include <base/types.cuh>
#include <ptx/float.cuh>
#include <ptx/half.cuh>
#include <quant/elements.cuh>

namespace quant {

/* Sign bits of four pairs, at the codes that they belong to. */
__device__ inline u32 signs(u32 w0, u32 w1, u32 w2, u32 w3)
{
    u32 first = ptx::prmt(w0, w1, 0x7531), second = ptx::prmt(w2, w3, 0x7531);
    u32 even = ptx::prmt(first, second, 0x6420);
    u32 odd = ptx::prmt(first, second, 0x7531);
    return ptx::select_bits(odd, even >> 4, 0x80808080) & 0x88888888;
}

/* Likewise of eight f32. */
__device__ inline u32 signs(const float *x)
{
    u32 word = 0;
#pragma unroll
    for (int i = 7; i >= 0; i--)
        word = word << 4 | __float_as_uint(x[i]) >> 28;
    return word & 0x88888888;
}

/* The low half is that of `low`; the high one has what is above there, too. */
__device__ inline u32 two(float low, float high)
{
    return __float_as_uint(high) * 65536 + __float_as_uint(low);
}

/* The nearest codes of eight 0 <= y < 7, ties to even. Codes are y in steps of
 * 1/2 up to 2, of 1 up to 4, of 2 up to 6. Past 2^23 an f32 is an integer, so
 * that adding it rounds; of the three lines, which meet in even codes, the
 * lowest is the right one, for two codes at a time. */
__device__ inline u32 codes(const float *y)
{
    constexpr float integer = 8388608.0f;            /* 2^23, 0x4b000000 */
    constexpr u32 above = (0x4b00u * 0x1111u) << 16; /* of four words */
    u32 word = 0;
#pragma unroll
    for (int i = 3; i >= 0; i--) {
        float a = y[i], b = y[i + 4];
        u32 halves = two(ptx::fma_f32(a, 2, integer),
                         ptx::fma_f32(b, 2, integer));
        u32 ones = two(a + (integer + 2), b + (integer + 2));
        u32 twos = two(ptx::fma_f32(a, 0.5f, integer + 4),
                       ptx::fma_f32(b, 0.5f, integer + 4));
        word = word * 16 +
               ptx::min_u16x2(ptx::min_u16x2(halves, ones), twos);
    }
    return word - above;
}

/* What a block's elements are multiplied with, for each byte of its scale. */
struct block_factors {
    static constexpr int count = 128;
    float of[count];

    __device__ void set(u32 byte, float global)
    {
        constexpr float most = 3.402823466e38f; /* keeps 0 * factor 0 */
        float factor =
            global / ptx::cvt_f32_f16(ptx::cvt_f16x2_e4m3x2(byte));
        of[byte] = factor < most ? factor : most;
    }
};

/* Before it is rounded to e4m3. */
__device__ inline float wanted_scale(float largest, float global)
{
    return ptx::mul_f32(global, ptx::mul_f32(largest, 1.0f / 6.0f));
}

/* From 2^-6 to below 2^9, where e4m3 is not smaller by more than an eighth, so
 * that all y are below 7. It is a number, so all elements are. */
__device__ inline bool is_usual(float wanted)
{
    constexpr u32 least = 0x3c800000, end = 0x44000000;
    return __float_as_uint(wanted) - least < end - least;
}

/* The largest magnitude of pairs; no number where one of them is none. As
 * integers, magnitudes are in the order of the numbers, and so they are as
 * f16, of which bf16 from 2^121 on are none; these make it none, too. */
template <bool bf16> __device__ inline float largest_of(const u32 *x)
{
    u32 top = ptx::abs_f16x2(x[0]);
#pragma unroll
    for (int i = 1; i < 8; i++)
        top = ptx::max_nan_f16x2(top, ptx::abs_f16x2(x[i]));
    return ptx::max_nan_f32(pair<bf16>::low(top), pair<bf16>::high(top));
}

__device__ inline float largest_of(const float (&x)[16])
{
    float largest = ptx::abs_f32(x[0]);
#pragma unroll
    for (int i = 1; i < 16; i++)
        largest = ptx::max_nan_f32(largest, ptx::abs_f32(x[i]));
    return largest;
}

/* Codes of eight x without their signs: `usual` if the scale is. */
template <bool usual>
__device__ inline u32 scaled_codes(const float *x, float factor)
{
    float y[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        y[i] = ptx::mul_f32(ptx::abs_f32(x[i]), factor);
        y[i] = usual ? y[i] : min(6.0f, y[i]); /* infinity * 0 is 6 */
    }
    return codes(y);
}

/* Any block of numbers. `to` has the signs of its codes. */
__device__ inline u32 quantize_any(const float (&x)[16], float wanted,
                                   const block_factors &factors, u32 (&to)[2])
{
    u32 byte = ptx::cvt_e4m3x2_f32(0, wanted > 0 ? wanted : 0);
    to[0] += scaled_codes<false>(&x[0], factors.of[byte]);
    to[1] += scaled_codes<false>(&x[8], factors.of[byte]);
    if (!byte)
        to[0] = to[1] = 0;
    return byte;
}

__device__ inline u32 quantize_usual(const float (&x)[16], float wanted,
                                     const block_factors &factors,
                                     u32 (&to)[2])
{
    u32 byte = ptx::cvt_e4m3x2_f32(0, wanted);
    to[0] += scaled_codes<true>(&x[0], factors.of[byte]);
    to[1] += scaled_codes<true>(&x[8], factors.of[byte]);
    return byte;
}

template <bool bf16>
__device__ inline void unpack(const u32 (&pairs)[8], float (&x)[16])
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x[2 * i] = pair<bf16>::low(pairs[i]);
        x[2 * i + 1] = pair<bf16>::high(pairs[i]);
    }
}

/* Sixteen to two words of codes. Returns the scale's byte, spoils x. */
template <bool bf16>
__device__ inline u32 quantize(u32 (&pairs)[8], float global,
                               const block_factors &factors, u32 (&to)[2])
{
    float wanted = wanted_scale(largest_of<bf16>(pairs), global), x[16];
    to[0] = signs(pairs[0], pairs[1], pairs[2], pairs[3]);
    to[1] = signs(pairs[4], pairs[5], pairs[6], pairs[7]);
    if (is_usual(wanted)) {
        unpack<bf16>(pairs, x);
        return quantize_usual(x, wanted, factors, to);
    }
    u32 top = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        pairs[i] = pair<bf16>::max(pairs[i] & 0x7fff7fff, 0);
        top = pair<bf16>::max(top, pairs[i]);
    }
    float largest = max(pair<bf16>::low(top), pair<bf16>::high(top));
    unpack<bf16>(pairs, x);
    return quantize_any(x, wanted_scale(largest, global), factors, to);
}

/* Likewise of f32, where what is no number is 0 without a sign. */
__device__ inline u32 quantize(float (&x)[16], float global,
                               const block_factors &factors, u32 (&to)[2])
{
    float wanted = wanted_scale(largest_of(x), global);
    if (is_usual(wanted)) {
        to[0] = signs(&x[0]);
        to[1] = signs(&x[8]);
        return quantize_usual(x, wanted, factors, to);
    }
#pragma unroll
    for (int i = 0; i < 16; i++)
        x[i] = x[i] == x[i] ? x[i] : 0;
    to[0] = signs(&x[0]);
    to[1] = signs(&x[8]);
    return quantize_any(x, wanted_scale(largest_of(x), global), factors, to);
}

} // namespace quant
