/* SPDX-License-Identifier: MIT */
/* f32 from and to 16 and 8 bits, maxima of pairs, bytes picked from words. */
#pragma once
#include "../half.h"
#include "../instructions.h"
#include <base/types.cuh>

namespace ptx {

inline u32 max_f16x2(u32 a, u32 b)
{
    emu::step();
    return u32(emu::half_max(u16(a), u16(b), 0x7c00)) |
           u32(emu::half_max(u16(a >> 16), u16(b >> 16), 0x7c00)) << 16;
}

inline u32 max_bf16x2(u32 a, u32 b)
{
    emu::step();
    return u32(emu::half_max(u16(a), u16(b), 0x7f80)) |
           u32(emu::half_max(u16(a >> 16), u16(b >> 16), 0x7f80)) << 16;
}

inline u32 max_nan_f16x2(u32 a, u32 b)
{
    emu::step();
    return u32(emu::half_max_nan(u16(a), u16(b))) |
           u32(emu::half_max_nan(u16(a >> 16), u16(b >> 16))) << 16;
}

inline u32 abs_f16x2(u32 a)
{
    emu::step();
    return a & 0x7fff7fff;
}

inline u32 min_u16x2(u32 a, u32 b)
{
    u32 low = u16(a) < u16(b) ? u16(a) : u16(b);
    u32 high = a >> 16 < b >> 16 ? a >> 16 : b >> 16;

    emu::step();
    return low | high << 16;
}

inline float max_nan_f32(float a, float b)
{
    emu::step();
    return a != a || b != b ? __builtin_nanf("") : a < b ? b : a;
}

inline float abs_f32(float a)
{
    emu::step();
    return __builtin_fabsf(a);
}

/* Off by what the bits of a say, if a step of Newton's makes it right: so it
 * does on GPUs, whose rounded division is that. */
inline float rcp_approx_f32(float a)
{
    float right = 1 / a;
    u32 off = emu::bits_of_float(a) % 3 - 1;
    float near = emu::float_of_bits(emu::bits_of_float(right) + off);
    float error = __builtin_fmaf(-a, near, 1);

    emu::step();
    return __builtin_fmaf(error, near, near) == right ? near : right;
}

inline float cvt_f32_f16(u32 pair)
{
    emu::step();
    return emu::half_value(u16(pair));
}

inline u32 cvt_e4m3x2_f32(float high, float low)
{
    emu::step();
    return u32(emu::e4m3_of(high)) << 8 | emu::e4m3_of(low);
}

inline float mul_f32(float a, float b)
{
    emu::step();
    return a * b;
}

inline float fma_f32(float a, float b, float c)
{
    emu::step();
    return __builtin_fmaf(a, b, c);
}

inline u32 prmt(u32 a, u32 b, u32 selector)
{
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    u32 d = 0;

    emu::step();
    for (int i = 0; i < 4; i++) {
        u32 from = selector >> 4 * i & 0xf;
        u32 byte = u32(bytes >> 8 * (from & 7)) & 0xff;

        if (from & 8) /* its sign, eight times */
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << 8 * i;
    }
    return d;
}

} // namespace ptx
