/* SPDX-License-Identifier: MIT */
/* MXFP4 to bf16: an e2m1 code times 2^(scale - 127), a scale for 32 codes and
 * 255 being none. That is exact, but for 2^128 and more, which is an infinity.
 */
#pragma once
#include <base/types.cuh>
#include <mma/nvfp4.cuh>
#include <ptx/half.cuh>

namespace mma {

struct mxfp4_to_bf16 {
    static constexpr float shortfall = 1.0f;
    using span_scales = u8;
    static constexpr u32 scale_bits = 0xff;

    using spread = nvfp4_to<JG_BF16>::spread;

    /* The scale as a bf16, whose exponent has the same bias. The lowest is
     * subnormal and the highest no number, by the bit below the exponent. */
    __device__ static u32 factors(u32 scale)
    {
        return scale << 7 | (scale + 1 & 0xfe ? 0 : 0x40);
    }

    /* The pair is short of 2^126: no factor has the range of that and of the
     * scale. */
    __device__ static u32 scaled(u32 pair, u32 factors, int)
    {
        constexpr u32 power = 0x7e80; /* 2^126 */
        return ptx::mul_bf16x2_half(ptx::mul_bf16x2_half(pair, power, 0),
                                    factors, 0);
    }
};

} // namespace mma
