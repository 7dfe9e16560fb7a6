/* SPDX-License-Identifier: MIT */
/* NVFP4 to f16, exactly, without a table.
 *
 * Sixteen e2m1 codes that share a scale are two words, code i of a word at
 * bits 4i. With the sign at bit 15 and the three other bits at 11..9 of an
 * f16, a code reads as its value * 2^-14, subnormals included. Times an e4m3
 * scale that is at least 2^-24, and has six bits at most: f16 holds it
 * exactly, subnormals included. Both operands of a product carry 2^-14, so
 * the sum is short of 2^28. */
#pragma once
#include <base/types.cuh>
#include <ptx/half.cuh>

namespace mma {

constexpr float decode_shortfall = 268435456.0f; /* 2^28, see above */

/* The codes of a word a byte each, sign at bit 7 and the rest at bits 3..1;
 * what is at the other bits must be masked. */
struct spread {
    u32 odd, even;

    __device__ spread(u32 word)
        : odd(ptx::select_bits(word, word >> 3, 0x80808080)),
          even(ptx::select_bits(word << 4, word << 1, 0x80808080))
    {
    }

    /* Codes i and i + 4 (0 <= i < 4) as a pair of f16: taking these two
     * together needs no permutation. */
    __device__ u32 pair(int i) const
    {
        u32 bytes = i % 2 ? odd : even;
        return (i < 2 ? bytes << 8 : bytes) & 0x8e008e00;
    }
};

} // namespace mma
