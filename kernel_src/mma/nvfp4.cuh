/* SPDX-License-Identifier: MIT */
/* NVFP4 to f16 and bf16, exactly, without a table.
 *
 * Sixteen e2m1 codes that share a scale are two words, code i of a word at
 * bits 4i. With the sign at bit 15 and the three other bits from the lowest of
 * the exponent down, a 16-bit float reads as the code's value times a small
 * power of two, subnormals included. Times the e4m3 scale, which brings such a
 * power too, it has six bits at most: that is exact. What the result is short
 * of, the epilogue makes up for. */
#pragma once
#include <base/group.h>
#include <base/types.cuh>
#include <ptx/float.cuh>
#include <ptx/half.cuh>

namespace mma {

template <int type> struct nvfp4_to; /* JG_F16, JG_BF16 */

/* The three bits at 11..9 are the value * 2^-14. Times a scale that is at
 * least 2^-9 no result is below 2^-24, the least subnormal. */
template <> struct nvfp4_to<JG_F16> {
    static constexpr float shortfall = 16384.0f; /* 2^14 */
    using span_scales = u16;                     /* of 32 k */
    static constexpr u32 scale_bits = 0x7f7f;    /* that count */

    /* The codes of a word a byte each, sign at bit 7 and the rest at bits
     * 3..1; what is at the other bits must be masked. */
    struct spread {
        u32 odd, even;

        __device__ spread(u32 word)
            : odd(ptx::select_bits(word, word >> 3, 0x80808080)),
              even(ptx::select_bits(word << 4, word << 1, 0x80808080))
        {
        }

        /* Codes i and i + 4 (0 <= i < 4) as a pair: taking these two together
         * needs no permutation. */
        __device__ u32 pair(int i) const
        {
            u32 bytes = i % 2 ? odd : even;
            return (i < 2 ? bytes << 8 : bytes) & 0x8e008e00;
        }
    };

    /* Of two scales in the low 16 bits, as scaled() takes them. */
    __device__ static u32 factors(u32 scales)
    {
        return ptx::cvt_f16x2_e4m3x2(scales);
    }

    /* A pair of codes with the scale that is that half of the factors. */
    __device__ static u32 scaled(u32 pair, u32 factors, int half)
    {
        return ptx::mul_f16x2_half(pair, factors, half);
    }
};

/* The three bits at 8..6 are the value * 2^-126. The largest scale, 448, times
 * 2^119 is still a number, so the result is the value * 2^-7. */
template <> struct nvfp4_to<JG_BF16> {
    static constexpr float shortfall = 128.0f; /* 2^7 */
    using span_scales = u16;
    static constexpr u32 scale_bits = 0x7f7f;

    /* As above. Codes 2 and 3 of each half share a word, and so do codes 0 and
     * 1: the second with its sign at bit 15 and the rest at bits 8..6, the
     * first four bits below. */
    struct spread {
        u32 high, low;

        __device__ spread(u32 word)
            : high(ptx::select_bits(word, word >> 6, 0x88008800)),
              low(ptx::select_bits(word << 8, word << 2, 0x88008800))
        {
        }

        __device__ u32 pair(int i) const
        {
            u32 codes = i < 2 ? low : high;
            return (i % 2 ? codes : codes << 4) & 0x81c081c0;
        }
    };

    __device__ static u32 factors(u32 scales)
    {
        constexpr u32 power = 0x7b00; /* 2^119 */
        u32 pair = ptx::cvt_f16x2_e4m3x2(scales);
        u32 exact = ptx::cvt_bf16x2_f32(ptx::cvt_f32_f16(pair >> 16),
                                        ptx::cvt_f32_f16(pair));
        return ptx::mul_bf16x2_half(exact, power, 0);
    }

    __device__ static u32 scaled(u32 pair, u32 factors, int half)
    {
        return ptx::mul_bf16x2_half(pair, factors, half);
    }
};

} // namespace mma
