/* SPDX-License-Identifier: MIT */
/* Arithmetic on pairs of f16 or bf16 in a register. */
#pragma once
#include "../half.h"
#include "../instructions.h"
#include <base/types.cuh>

namespace ptx {

inline u32 mul_f16x2_half(u32 a, u32 b, int half)
{
    u16 factor = u16(half ? b >> 16 : b);

    emu::step();
    return u32(emu::half_mul(u16(a), factor)) |
           u32(emu::half_mul(u16(a >> 16), factor)) << 16;
}

inline u32 mul_bf16x2_half(u32 a, u32 b, int half)
{
    u16 factor = u16(half ? b >> 16 : b);

    emu::step();
    return u32(emu::bf16_mul(u16(a), factor)) |
           u32(emu::bf16_mul(u16(a >> 16), factor)) << 16;
}

inline u32 select_bits(u32 a, u32 b, u32 mask)
{
    emu::step();
    return (a & mask) | (b & ~mask);
}

inline u32 cvt_f16x2_e4m3x2(u32 pair)
{
    emu::step();
    return u32(emu::half_of_e4m3(u8(pair))) |
           u32(emu::half_of_e4m3(u8(pair >> 8))) << 16;
}

inline u32 cvt_f16x2_f32(float high, float low)
{
    emu::step();
    return u32(emu::half_of(emu::checked_register(low))) |
           u32(emu::half_of(emu::checked_register(high))) << 16;
}

inline u32 cvt_bf16x2_f32(float high, float low)
{
    emu::step();
    return u32(emu::bf16_of(emu::checked_register(low))) |
           u32(emu::bf16_of(emu::checked_register(high))) << 16;
}

} // namespace ptx
