/* SPDX-License-Identifier: MIT */
/* Accumulators in registers of a transposed tile (64 weight rows x tokens, one
 * warpgroup) to row-major C, as many tokens at a time as fit 2 KiB of shared
 * memory, so that a token's 64 columns leave as whole lines. */
#pragma once
#include <base/types.cuh>
#include <epilogue/output.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>

namespace epilogue {

constexpr int warpgroup = 128;
constexpr int columns = 64; /* of C, a warpgroup */
constexpr int staging_bytes = warpgroup * 16; /* a thread stores a unit */
template <int type> constexpr int row_bytes = columns * element_bytes<type>;
template <int type> constexpr int row_units = row_bytes<type> / 16;
template <int type>
constexpr int pass_rows = staging_bytes / row_bytes<type>; /* tokens a pass */

/* Byte of 16-byte unit `unit` of a staged token; the swizzle spreads eight
 * tokens over all banks. */
template <int type> __device__ inline int staged(int token, int unit)
{
    return token * row_bytes<type> + ((unit ^ (token & 7)) << 4);
}

/* Where the warpgroup's part of C begins, and how much of it there is. */
struct destination {
    u8 *c;  /* of the first token and column */
    int ld; /* elements from token to token, a multiple of 8 */
    int rows, columns;
    const u8 *bias; /* of the first column, or null */
};

/* Stages a warp's 16 weight rows of 8 tokens, the first of which is staged as
 * `token`. Of them a thread has {row g, g + 8} x {token 2c, 2c + 1}, g = lane
 * / 4, c = lane % 4. */
template <int type>
__device__ inline void stage(const float (&values)[4], int token, u8 *staging)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x % warpgroup / 32;

    if constexpr (type == JG_F32) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int column = 16 * warp + lane / 4 + i / 2 * 8;
            *reinterpret_cast<float *>(
                staging +
                staged<type>(token + lane % 4 * 2 + i % 2, column / 4) +
                column % 4 * 4) = values[i];
        }
    } else {
        ptx::stmatrix_x2_trans(
            staging + staged<type>(token + lane % 8, 2 * warp + lane / 8 % 2),
            pair<type>(values[1], values[0]),
            pair<type>(values[3], values[2]));
    }
}

/* Stores d * scale * alpha + bias. Accumulators of a thread: for each 8 tokens
 * four, as stage() takes them. */
template <int type, int accumulators>
__device__ inline void store_registers(const float (&d)[accumulators],
                                       float scale, float alpha,
                                       destination to, u8 *staging,
                                       u32 barrier)
{
    constexpr int blocks = accumulators / 4; /* of 8 tokens */
    constexpr int pass = pass_rows<type> / 8;
    int thread = threadIdx.x % warpgroup;
    int token = thread / row_units<type>, own = thread % row_units<type>;
    int column = own * unit<type>;
    const u8 *from = staging + staged<type>(token, own);
    int g = thread / 32 * 16 + thread % 32 / 4;
    float bias[2] = {bias_at<type>(to.bias, g, to.columns),
                     bias_at<type>(to.bias, g + 8, to.columns)};

#pragma unroll
    for (int first = 0; first < blocks; first += pass) {
        if (8 * first >= to.rows)
            break;
#pragma unroll
        for (int i = 0; i < pass && first + i < blocks; i++) {
            float values[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                values[j] =
                    d[4 * (first + i) + j] * scale * alpha + bias[j / 2];
            stage<type>(values, 8 * i, staging);
        }
        ptx::bar_sync(barrier, warpgroup);
        int row = 8 * first + token;
        if (row < to.rows && token < 8 * blocks && column < to.columns)
            *reinterpret_cast<uint4 *>(
                to.c +
                (size_t(row) * to.ld + column) * element_bytes<type>) =
                *reinterpret_cast<const uint4 *>(from);
        ptx::bar_sync(barrier, warpgroup);
    }
}

/* Adds what C has to that, in f32: sums are staged as such, eight tokens a
 * pass, and a thread takes four elements. Those of C come a few passes ahead.
 */
template <int type, int accumulators>
__device__ inline void add_registers(const float (&d)[accumulators],
                                     float scale, float alpha, destination to,
                                     u8 *staging, u32 barrier)
{
    using quad = elements<type, 4>;
    constexpr int blocks = accumulators / 4; /* of 8 tokens */
    constexpr int most = type == JG_F32 ? 2 : 4; /* 8 registers */
    constexpr int ahead = blocks < most ? blocks : most;
    int thread = threadIdx.x % warpgroup;
    int token = thread / row_units<JG_F32>, own = thread % row_units<JG_F32>;
    const auto *from = reinterpret_cast<const elements<JG_F32, 4> *>(
        staging + staged<JG_F32>(token, own));
    quad *c = reinterpret_cast<quad *>(to.c) + own;
    int rows = 4 * own < to.columns ? to.rows : 0; /* for this thread */
    int g = thread / 32 * 16 + thread % 32 / 4;
    float bias[2] = {bias_at<type>(to.bias, g, to.columns),
                     bias_at<type>(to.bias, g + 8, to.columns)};

    static_assert(blocks % ahead == 0 && pass_rows<JG_F32> == 8);
#pragma unroll
    for (int first = 0; first < blocks; first += ahead) {
        quad before[ahead];
        if (8 * first >= to.rows)
            break;
#pragma unroll
        for (int i = 0; i < ahead; i++) {
            int row = 8 * (first + i) + token;
            if (row < rows)
                before[i] = c[size_t(row) * (to.ld / 4)];
        }
#pragma unroll
        for (int i = 0; i < ahead; i++) {
            int row = 8 * (first + i) + token;
            float values[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                values[j] =
                    d[4 * (first + i) + j] * scale * alpha + bias[j / 2];
            stage<JG_F32>(values, 0, staging);
            ptx::bar_sync(barrier, warpgroup);
            if (row < rows) {
                float sums[4] = {};
                from->add_to(sums);
                before[i].add_to(sums);
                before[i].round(sums);
                c[size_t(row) * (to.ld / 4)] = before[i];
            }
            ptx::bar_sync(barrier, warpgroup);
        }
    }
}

} // namespace epilogue
