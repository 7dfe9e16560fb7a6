/* SPDX-License-Identifier: MIT */
/* Arithmetic on pairs of f16 or bf16 in a register, subnormals included. PTX
 * ISA 9.7.4, 9.7.9.21. */
#pragma once
#include <base/types.cuh>

namespace ptx {

/* Both halves of a times one of b, `half` 0 being the low one. */
__device__ inline u32 mul_f16x2_half(u32 a, u32 b, int half)
{
    u32 d;
    if (half)
        asm("{\n"
            ".reg .b16 l, h;\n"
            ".reg .b32 b;\n"
            "mov.b32 {l, h}, %2;\n"
            "mov.b32 b, {h, h};\n"
            "mul.rn.f16x2 %0, %1, b;\n"
            "}"
            : "=r"(d)
            : "r"(a), "r"(b));
    else
        asm("{\n"
            ".reg .b16 l, h;\n"
            ".reg .b32 b;\n"
            "mov.b32 {l, h}, %2;\n"
            "mov.b32 b, {l, l};\n"
            "mul.rn.f16x2 %0, %1, b;\n"
            "}"
            : "=r"(d)
            : "r"(a), "r"(b));
    return d;
}

__device__ inline u32 mul_bf16x2_half(u32 a, u32 b, int half)
{
    u32 d;
    if (half)
        asm("{\n"
            ".reg .b16 l, h;\n"
            ".reg .b32 b;\n"
            "mov.b32 {l, h}, %2;\n"
            "mov.b32 b, {h, h};\n"
            "mul.rn.bf16x2 %0, %1, b;\n"
            "}"
            : "=r"(d)
            : "r"(a), "r"(b));
    else
        asm("{\n"
            ".reg .b16 l, h;\n"
            ".reg .b32 b;\n"
            "mov.b32 {l, h}, %2;\n"
            "mov.b32 b, {l, l};\n"
            "mul.rn.bf16x2 %0, %1, b;\n"
            "}"
            : "=r"(d)
            : "r"(a), "r"(b));
    return d;
}

/* Bits of a where the mask has ones, of b elsewhere. */
__device__ inline u32 select_bits(u32 a, u32 b, u32 mask)
{
    u32 d;
    asm("lop3.b32 %0, %1, %2, %3, 0xe2;"
        : "=r"(d)
        : "r"(a), "r"(mask), "r"(b));
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

/* Both round to nearest even; past the range gives an infinity. */
__device__ inline u32 cvt_f16x2_f32(float high, float low)
{
    u32 d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}

__device__ inline u32 cvt_bf16x2_f32(float high, float low)
{
    u32 d;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}

} // namespace ptx
