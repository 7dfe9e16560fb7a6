/* SPDX-License-Identifier: MIT */
/* Accumulators of a transposed tile (64 weight rows x tokens, one warpgroup)
 * to row-major f16, 16 tokens at a time through 2 KiB of shared memory, so
 * that a token's 64 columns leave as whole lines. */
#pragma once
#include <base/types.cuh>
#include <ptx/half.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>

namespace epilogue {

constexpr int warpgroup = 128;
constexpr int columns = 64;   /* of C, a warpgroup */
constexpr int pass_rows = 16; /* tokens a pass; a thread stores 16 bytes */
constexpr int row_bytes = columns * 2;
constexpr int staging_bytes = pass_rows * row_bytes;

/* Byte of 16-byte unit `unit` of a staged token; the swizzle spreads the eight
 * rows of a matrix over all banks. */
__device__ inline int staged(int token, int unit)
{
    return token * row_bytes + ((unit ^ (token & 7)) << 4);
}

/* Where the warpgroup's part of C begins, and how much of it there is. */
struct destination {
    u16 *c; /* of the first token and column */
    int ld; /* elements from token to token, a multiple of 8 */
    int rows, columns;
};

/* `accumulators` of a thread: for each 8 tokens, {row g, g + 8} x {token 2c,
 * 2c + 1} of its warp's 16 weight rows, g = lane / 4, c = lane % 4. */
template <int accumulators>
__device__ inline void store_f16(const float (&d)[accumulators], float scale,
                                 float alpha, destination to, u8 *staging,
                                 u32 barrier)
{
    constexpr int blocks = accumulators / 4; /* of 8 tokens */
    int thread = threadIdx.x % warpgroup, lane = thread % 32;
    int warp = thread / 32;
    int token = thread / 8, unit = thread % 8;

#pragma unroll
    for (int first = 0; first < blocks; first += pass_rows / 8) {
        if (8 * first >= to.rows)
            break;
#pragma unroll
        for (int i = 0; i < 2 && first + i < blocks; i++) {
            const float *block = &d[4 * (first + i)];
            u32 low = ptx::cvt_f16x2_f32(block[1] * scale * alpha,
                                         block[0] * scale * alpha);
            u32 high = ptx::cvt_f16x2_f32(block[3] * scale * alpha,
                                          block[2] * scale * alpha);
            ptx::stmatrix_x2_trans(
                staging + staged(8 * i + lane % 8, 2 * warp + lane / 8 % 2),
                low, high);
        }
        ptx::bar_sync(barrier, warpgroup);
        int row = 8 * first + token;
        if (row < to.rows && token < 8 * blocks && 8 * unit < to.columns)
            *reinterpret_cast<uint4 *>(to.c + size_t(row) * to.ld + 8 * unit) =
                *reinterpret_cast<uint4 *>(staging + staged(token, unit));
        ptx::bar_sync(barrier, warpgroup);
    }
}

} // namespace epilogue
