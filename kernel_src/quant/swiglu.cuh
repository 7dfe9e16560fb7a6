/* SPDX-License-Identifier: MIT */
/* silu(gate) * up, silu(x) = x / (1 + exp(-x)), in f32. Each step is one
 * operation or one fused multiply-add, rounded to nearest even, so that every
 * GPU gives the same bits. */
#pragma once
#include <base/types.cuh>
#include <ptx/float.cuh>

namespace quant {

/* 2^x for |x| <= 1/2: the polynomial whose largest relative error, 2^-23.4, is
 * the smallest. */
__device__ inline float exp2_near_0(float x)
{
    float y = 0.00132647296f;
    y = ptx::fma_f32(y, x, 0.00967151485f);
    y = ptx::fma_f32(y, x, 0.0555073358f);
    y = ptx::fma_f32(y, x, 0.240222424f);
    y = ptx::fma_f32(y, x, 0.693147004f);
    return ptx::fma_f32(y, x, 1.0f);
}

/* exp(-x) is 2^n * 2^rest, where adding 1.5 * 2^23 rounds to the integer n and
 * leaves it in the low bits. Past 87 it vanishes beside 1, below -87 that is
 * what the quotient does. No number gives 0. */
__device__ inline float swiglu(float gate, float up)
{
    constexpr float integer = 12582912.0f; /* 1.5 * 2^23 */
    constexpr float log2_e = 1.44269502f, most = 87.0f;
    float x = min(gate, most);
    float n = ptx::fma_f32(x, -log2_e, integer);
    float rest = ptx::fma_f32(x, -log2_e, integer - n);
    float power = __uint_as_float(__float_as_uint(exp2_near_0(rest)) +
                                  (__float_as_uint(n) << 23));
    float part = gate < -most ? 0 : 1.0f / (1.0f + power);
    float y = ptx::mul_f32(ptx::mul_f32(gate, part), up);
    return y == y ? y : 0;
}

} // namespace quant
