/* SPDX-License-Identifier: MIT */
/* f16, bf16 and e4m3 by their bits, from IEEE 754 and the OCP 8-bit formats.
 */
#ifndef EMU_HALF_H
#define EMU_HALF_H

#include <stdint.h>
#include <string.h>

namespace emu {

constexpr uint16_t half_nan = 0x7fff; /* PTX's canonical one */

inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exact. A subnormal f16 is an integer times 2^-24. */
inline float half_value(uint16_t half)
{
    uint32_t sign = (half & 0x8000u) << 16;
    uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;

    if (exponent == 0) {
        float magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    exponent = exponent == 0x1f ? 0xff : exponent + (127 - 15);
    return float_of_bits(sign | exponent << 23 | fraction << 13);
}

/* Round to nearest even; past the range gives an infinity. */
inline uint16_t half_of(float value)
{
    uint32_t bits = bits_of_float(value);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;

    if (magnitude > 0x7f800000)
        return half_nan;
    if (magnitude >= 0x47800000) /* 2^16 */
        return static_cast<uint16_t>(sign | 0x7c00);
    if (magnitude < 0x38800000) { /* 2^-14: a multiple of 2^-24 */
        /* Adding 0.5 puts the unit in the last place at 2^-24. */
        uint32_t sum = bits_of_float(float_of_bits(magnitude) + 0.5f);
        return static_cast<uint16_t>(sign | (sum - 0x3f000000));
    }
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return static_cast<uint16_t>(sign | ((magnitude - 0x38000000) >> 13));
}

/* The upper half of an f32, rounded likewise. */
inline uint16_t bf16_of(float value)
{
    uint32_t bits = bits_of_float(value);

    if ((bits & 0x7fffffff) > 0x7f800000)
        return half_nan;
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float bf16_value(uint16_t bf16)
{
    return float_of_bits(static_cast<uint32_t>(bf16) << 16);
}

/* The product of two bf16 has 16 bits. They are exact in f32 unless the first
 * is below 2^-134, half of the least bf16: so small a one becomes 0. */
inline uint16_t bf16_mul(uint16_t a, uint16_t b)
{
    return bf16_of(bf16_value(a) * bf16_value(b));
}

/* The product of two f16 is exact in f32: one rounding. */
inline uint16_t half_mul(uint16_t a, uint16_t b)
{
    return half_of(half_value(a) * half_value(b));
}

/* Exact; 0x7F and 0xFF are not numbers. */
inline uint16_t half_of_e4m3(uint8_t byte)
{
    uint32_t exponent = byte >> 3 & 0xf, fraction = byte & 7;
    float magnitude =
        exponent ? float_of_bits((exponent + 127 - 7) << 23 | fraction << 20)
                 : static_cast<float>(fraction) * 0x1p-9f;

    if ((byte & 0x7f) == 0x7f)
        return half_nan;
    return half_of(byte & 0x80 ? -magnitude : magnitude);
}

/* Nearest even, at most 448. */
inline uint8_t e4m3_of(float value)
{
    uint32_t bits = bits_of_float(value);
    uint32_t sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffff;

    if (magnitude > 0x7f800000)
        return 0x7f;
    if (magnitude >= 0x43e00000) /* 448 */
        return static_cast<uint8_t>(sign | 0x7e);
    if (magnitude < 0x3c800000) { /* 2^-6: a multiple of 2^-9 */
        /* Adding 2^14 puts the unit in the last place there. */
        uint32_t sum = bits_of_float(float_of_bits(magnitude) + 0x1p14f);
        return static_cast<uint8_t>(sign | (sum - 0x46800000));
    }
    magnitude += 0x7ffff + (magnitude >> 20 & 1);
    return static_cast<uint8_t>(sign | ((magnitude - 0x3c000000) >> 20));
}

/* The greater of two numbers of 16 bits whose infinity is that; +0 is greater
 * than -0, and a number greater than what is none. */
inline uint16_t half_max(uint16_t a, uint16_t b, uint16_t infinity)
{
    bool no_a = (a & 0x7fff) > infinity, no_b = (b & 0x7fff) > infinity;
    /* In the order of the numbers. */
    int order_a = a & 0x8000 ? -1 - (a & 0x7fff) : a;
    int order_b = b & 0x8000 ? -1 - (b & 0x7fff) : b;

    if (no_a && no_b)
        return half_nan;
    return no_a || (!no_b && order_b > order_a) ? b : a;
}

/* Of f16: no number where either is none. */
inline uint16_t half_max_nan(uint16_t a, uint16_t b)
{
    bool none = (a & 0x7fff) > 0x7c00 || (b & 0x7fff) > 0x7c00;

    return none ? half_nan : half_max(a, b, 0x7c00);
}

} // namespace emu

#endif
