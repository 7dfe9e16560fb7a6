/* SPDX-License-Identifier: MIT */
/* Arithmetic on pairs of f16 in a register. PTX ISA 9.7.4, 9.7.9.21. */
#pragma once
#include <base/types.cuh>

namespace ptx {

__device__ inline u32 mul_f16x2(u32 a, u32 b)
{
    u32 d;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

/* Two e4m3 in the low 16 bits; exact. */
__device__ inline u32 cvt_f16x2_e4m3x2(u32 pair)
{
    u32 d;
    asm("{\n"
        ".reg .b16 p;\n"
        "cvt.u16.u32 p, %1;\n"
        "cvt.rn.f16x2.e4m3x2 %0, p;\n"
        "}"
        : "=r"(d)
        : "r"(pair));
    return d;
}

/* Rounds to nearest even; past the range gives an infinity. */
__device__ inline u32 cvt_f16x2_f32(float high, float low)
{
    u32 d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}

} // namespace ptx
