/* SPDX-License-Identifier: MIT */
/* silu(gate) * up, silu(x) = x / (1 + exp(-x)), and what gpt-oss makes of it,
 * in f32. Each step is one operation or one fused multiply-add, rounded to
 * nearest even, so that every GPU gives the same bits. */
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

/* 1 / x for 1 <= x < 2^126, to nearest even: what 1 / x is compiled to, but
 * for the test whether x is such. */
__device__ inline float reciprocal(float x)
{
    float y = ptx::rcp_approx_f32(x);
    return ptx::fma_f32(ptx::fma_f32(-x, y, 1.0f), y, y);
}

/* 1 / (1 + 2^(-slope * x)), for |slope * x| < 126. The power is 2^n * 2^rest,
 * where adding 1.5 * 2^23 rounds to the integer n and leaves it in the low
 * bits. */
__device__ inline float sigmoid(float x, float slope)
{
    constexpr float integer = 12582912.0f; /* 1.5 * 2^23 */
    float n = ptx::fma_f32(x, -slope, integer);
    float rest = ptx::fma_f32(x, -slope, integer - n);
    float power = __uint_as_float(__float_as_uint(exp2_near_0(rest)) +
                                  (__float_as_uint(n) << 23));
    return reciprocal(1.0f + power);
}

constexpr float log2_e = 1.44269502f;
constexpr float most_gate = 87.0f;

/* For |gate| <= most_gate; may be no number. */
__device__ inline float swiglu_within(float gate, float up)
{
    return ptx::mul_f32(ptx::mul_f32(gate, sigmoid(gate, log2_e)), up);
}

/* Past 87 exp(-gate) vanishes beside 1, below -87 that is what the quotient
 * does. No number gives 0. */
__device__ inline float swiglu(float gate, float up)
{
    float x = max(min(gate, most_gate), -most_gate);
    float part = gate < -most_gate ? 0 : sigmoid(x, log2_e);
    float y = ptx::mul_f32(ptx::mul_f32(gate, part), up);
    return y == y ? y : 0;
}

/* gate / (1 + exp(-1.702 gate)) * (up + 1), of a gate of at most 7 and an up
 * of at most 7 either way. Below -51 the quotient vanishes. No number gives 0,
 * so it must outlive the bounds. */
__device__ inline float swiglu_oai(float gate, float up)
{
    constexpr float slope = 2.45546699f /* 1.702 log2 e */, most = 7.0f;
    float g = gate > most ? most : gate;
    float u = up > most ? most : up < -most ? -most : up;
    float part = g < -51.0f ? 0 : sigmoid(g, slope);
    float y = ptx::mul_f32(ptx::mul_f32(g, part), u + 1.0f);
    return y == y ? y : 0;
}

} // namespace quant
