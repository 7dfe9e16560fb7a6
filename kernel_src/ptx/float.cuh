/* SPDX-License-Identifier: MIT */
/* f32 from and to 16 and 8 bits, maxima of pairs, and bytes picked from words.
 * PTX ISA 9.7.3, 9.7.4, 9.7.9. */
#pragma once
#include <base/types.cuh>

namespace ptx {

/* The number, where the other is none. */
__device__ inline u32 max_f16x2(u32 a, u32 b)
{
    u32 d;
    asm("max.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

__device__ inline u32 max_bf16x2(u32 a, u32 b)
{
    u32 d;
    asm("max.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

/* No number, 0x7fff, where either is none. */
__device__ inline u32 max_nan_f16x2(u32 a, u32 b)
{
    u32 d;
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

__device__ inline u32 abs_f16x2(u32 a)
{
    u32 d;
    asm("abs.f16x2 %0, %1;" : "=r"(d) : "r"(a));
    return d;
}

__device__ inline u32 min_u16x2(u32 a, u32 b)
{
    u32 d;
    asm("min.u16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

/* No number where either is none. */
__device__ inline float max_nan_f32(float a, float b)
{
    float d;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

__device__ inline float abs_f32(float a)
{
    float d;
    asm("abs.f32 %0, %1;" : "=f"(d) : "f"(a));
    return d;
}

/* 1 / a, one unit in the last place off at most; subnormals are
 * taken for 0. */
__device__ inline float rcp_approx_f32(float a)
{
    float d;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a));
    return d;
}

/* The f16 in the low half; exact. */
__device__ inline float cvt_f32_f16(u32 pair)
{
    float d;
    asm("{\n"
        ".reg .b16 h;\n"
        "cvt.u16.u32 h, %1;\n"
        "cvt.f32.f16 %0, h;\n"
        "}"
        : "=f"(d)
        : "r"(pair));
    return d;
}

/* Nearest even, at most 448; no number stays none, 0x7f. The high one is the
 * second byte. */
__device__ inline u32 cvt_e4m3x2_f32(float high, float low)
{
    u32 d;
    asm("{\n"
        ".reg .b16 p;\n"
        "cvt.rn.satfinite.e4m3x2.f32 p, %1, %2;\n"
        "cvt.u32.u16 %0, p;\n"
        "}"
        : "=r"(d)
        : "f"(high), "f"(low));
    return d;
}

/* Rounded by itself, never fused with what follows. */
__device__ inline float mul_f32(float a, float b)
{
    float d;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

/* The product plus c, rounded once. */
__device__ inline float fma_f32(float a, float b, float c)
{
    float d;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}

/* Byte i is the one that nibble i of the selector names, 0 to 3 of a, 4 to 7
 * of b. */
__device__ inline u32 prmt(u32 a, u32 b, u32 selector)
{
    u32 d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
    return d;
}

} // namespace ptx
