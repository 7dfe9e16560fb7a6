/* SPDX-License-Identifier: MIT */
/* A token's activations as f16 in the order that mma/wgmma_tile.cuh gives k:
 * rows of 128 bytes, one a chunk of 64 k, whose 16-byte pieces the 128-byte
 * swizzle permutes. */
#pragma once
#include <base/group.h>
#include <base/types.cuh>
#include <mma/nvfp4.cuh>
#include <mma/wgmma_tile.cuh>

namespace mma {

/* Where piece `piece` of a row belongs; the row begins at a multiple of 128
 * bytes and is the row % 8-th of its atom. */
__device__ inline int activation_piece_offset(int row, int piece)
{
    return row * 128 + ((piece ^ row % atom_rows) << 4);
}

/* The scales of a token's chunk, one a byte; those past the end of k are 0. */
__device__ inline u32 activation_scales(const jg_group &group, int token,
                                        int chunk)
{
    size_t scale_chunks = ceil_div(group.k, chunk_k);
    u32 scales = *reinterpret_cast<const u32 *>(
        group.sfa + (token / 128 * scale_chunks + chunk) * 512 +
        token % 32 * 16 + token % 128 / 32 * 4);
    return chunk * chunk_k + chunk_k / 2 < group.k ? scales : scales & 0xffff;
}

/* Piece p of a row: pair p of the four blocks, whose words p / 4 are given. */
__device__ inline uint4 activation_piece(uint4 words, const u32 (&scales)[4],
                                         int piece)
{
    return {decode_pair(words.x, piece % 4, scales[0]),
            decode_pair(words.y, piece % 4, scales[1]),
            decode_pair(words.z, piece % 4, scales[2]),
            decode_pair(words.w, piece % 4, scales[3])};
}

__device__ inline void decode_scales(u32 (&scales)[4], u32 bytes)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        scales[i] = decode_scale(bytes >> (8 * i) & 0xff);
}

/* 64 k of one token, as they lie in memory. */
struct raw_activations {
    uint4 low, high; /* 32 k each */
    u32 scales;

    __device__ void load(const jg_group &group, int token, int chunk)
    {
        int k = chunk * chunk_k;

        low = high = {0, 0, 0, 0};
        scales = 0;
        if (token >= group.m || k >= group.k)
            return;
        const uint4 *codes = reinterpret_cast<const uint4 *>(
            group.a + size_t(token) * (group.k / 2) + k / 2);
        low = codes[0];
        if (k + chunk_k / 2 < group.k)
            high = codes[1];
        scales = activation_scales(group, token, chunk);
    }

    __device__ void decode(u8 *activations, int row) const
    {
        uint4 first = {low.x, low.z, high.x, high.z};
        uint4 second = {low.y, low.w, high.y, high.w};
        u32 factors[4];

        decode_scales(factors, scales);
#pragma unroll
        for (int piece = 0; piece < 8; piece++)
            *reinterpret_cast<uint4 *>(
                activations + activation_piece_offset(row, piece)) =
                activation_piece(piece < 4 ? first : second, factors,
                                      piece);
    }
};

} // namespace mma
