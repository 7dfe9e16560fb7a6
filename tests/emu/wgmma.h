/* SPDX-License-Identifier: MIT */
/* Matrix products of a warpgroup: D (64 x n, f32) += A (64 x 16) * B (16 x n).
 * The arithmetic and where operands lie; wgmma.cc has the order of things. */
#ifndef EMU_WGMMA_H
#define EMU_WGMMA_H

#include <stdint.h>

#include <vector>

namespace emu {

struct engine;
engine *wgmma_engine();

constexpr int wgmma_rows = 64, wgmma_k = 16;

/* Addresses of the 16-byte units of an operand, eight values of a row along k
 * each: units[2 * row + k / 8]. Checks the descriptor. */
std::vector<uint32_t> wgmma_units(uint64_t descriptor, int rows,
                                  const char *what);

/* What a step computes: every product is exact, and so, but for the last bits
 * of a double, is the sum of 16 of them and the accumulator, which is then
 * truncated to f32. The tensor core too truncates; it also drops what lies
 * far below the largest addend, so it may differ in the last bits of f32.
 * |result - exact| < 2^-23 |exact| + 17 * 2^-53 * (sum of magnitudes). */
float wgmma_truncate(double sum);

/* d[row * n + column] += ...; a[row * 16 + k], b[column * 16 + k]. `value` is
 * half_value() or bf16_value(). */
void wgmma_multiply(float (*value)(uint16_t), const uint16_t *a,
                    const uint16_t *b, int n, float *d);

} // namespace emu

#endif
