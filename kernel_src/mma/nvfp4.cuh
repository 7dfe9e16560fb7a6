/* SPDX-License-Identifier: MIT */
/* NVFP4 to f16, exactly, without a table.
 *
 * Sixteen e2m1 codes that share a scale are two words, code i of a word at
 * bits 4i. With the sign at bit 15 and the three other bits at 11..9 of an
 * f16, a code reads as its value * 2^-14, subnormals included; times an e4m3
 * scale * 2^7 it is value * scale * 2^-7, which f16 holds exactly. Both
 * operands of a product carry 2^-7, so the sum is short of 2^14. */
#pragma once
#include <base/types.cuh>
#include <ptx/half.cuh>

namespace mma {

constexpr float decode_shortfall = 16384.0f; /* 2^14, see above */

/* A scale byte, twice, as f16 times 2^7. The sign bit is ignored. */
__device__ inline u32 decode_scale(u32 byte)
{
    constexpr u32 two_to_7 = 0x58005800;
    u32 twice = (byte * 0x0101) & 0x7f7f;
    return ptx::mul_f16x2(ptx::cvt_f16x2_e4m3x2(twice), two_to_7);
}

/* Codes i and i + 4 of a word (0 <= i < 4) as a pair of f16: taking these two
 * together needs no permutation. */
__device__ inline u32 decode_pair(u32 word, int i, u32 scale)
{
    u32 top = word << (12 - 4 * i);
    u32 bits = (top & 0x80008000) | ((top >> 3) & 0x0e000e00);
    return ptx::mul_f16x2(bits, scale);
}

} // namespace mma
