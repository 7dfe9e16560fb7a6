/* SPDX-License-Identifier: MIT */
/* What a block-scaled product of 64 k computes. */
#ifndef EMU_TCGEN05_ARITHMETIC_H
#define EMU_TCGEN05_ARITHMETIC_H

#include <stdint.h>

namespace emu {

struct tcgen05_operands {
    int n;
    const uint8_t *a, *b; /* rows of 64 e2m1, the first in the low bits */
    const uint32_t *scales_a, *scales_b; /* a row: of 16 k each a byte */
    bool ue8m0;                          /* scales; else ue4m3 */
    bool negate, accumulate;
};

/* d: n columns of 128 f32. The four products of 16 k with their scales are
 * exact; they and d are added in f64, in the order d, k = 0, 16, 32, 48, and
 * the sum is truncated to f32, as tensor cores truncate. So it is the exact
 * sum truncated, unless the bits of all addends span more than 53. A scale
 * that is not a number makes all that it scales not a number, zeros too. */
void tcgen05_multiply(const tcgen05_operands &operands, uint32_t (*d)[128]);

/* The bits of a scale. ue4m3 ignores the sign bit. */
double tcgen05_scale(uint8_t bits, bool ue8m0);

} // namespace emu

#endif
