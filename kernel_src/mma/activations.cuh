/* SPDX-License-Identifier: MIT */
/* A token's activations in the order that mma/wgmma_tile.cuh gives k: rows of
 * 128 bytes, one a chunk of 64 k, whose 16-byte pieces the 128-byte swizzle
 * permutes. NVFP4 becomes f16; f16 and bf16 stay what they are. */
#pragma once
#include <base/group.h>
#include <base/types.cuh>
#include <mma/nvfp4.cuh>
#include <mma/wgmma_tile.cuh>
#include <ptx/float.cuh>

namespace mma {

using to_f16 = nvfp4_to<JG_F16>;

/* Where piece `piece` of a row belongs; the row begins at a multiple of 128
 * bytes and is the row % 8-th of its atom. */
__device__ inline int activation_piece_offset(int row, int piece)
{
    return row * 128 + ((piece ^ row % atom_rows) << 4);
}

/* A token's row of A. */
template <bool nvfp4, bool strided>
__device__ inline const u8 *row_of(const jg_group &group, int token)
{
    if constexpr (strided)
        return group.a + size_t(token) * group.row_a;
    else if constexpr (nvfp4)
        return group.a + size_t(token) * (group.k / 2);
    else
        return group.a + size_t(token) * group.k * 2;
}

/* A block of 16 k of a token; read() gives zeros outside. */
template <bool nvfp4> struct activation_block;

template <> struct activation_block<true> {
    struct bytes {
        uint2 codes;
        u32 scale;
    };

    to_f16::spread low, high; /* codes */
    u32 factor;               /* the scale as f16 */

    __device__ explicit activation_block(bytes from)
        : low(from.codes.x), high(from.codes.y),
          factor(to_f16::factors(from.scale & 0x7f))
    {
    }

    /* Pair p, as in mma/wgmma_tile.cuh. */
    __device__ u32 pair(int p) const
    {
        return to_f16::scaled(p < 4 ? low.pair(p) : high.pair(p - 4), factor,
                              0);
    }

    template <bool strided>
    __device__ static bytes read(const jg_group &group, int token, int block)
    {
        if (token >= group.m || block >= group.k / block_k)
            return {{0, 0}, 0};
        return {*reinterpret_cast<const uint2 *>(
                    row_of<true, strided>(group, token) + block * 8),
                group.sfa[(size_t(token / 128) * ceil_div(group.k, chunk_k) +
                           block / 4) *
                              scale_atom_bytes +
                          scale_offset(token) + block % 4]};
    }
};

/* Elements of 16 bits. */
template <> struct activation_block<false> {
    struct bytes {
        uint4 low, high;
    } from;

    __device__ explicit activation_block(bytes b) : from(b)
    {
    }

    /* The halves of two words, p / 2 % 2 words into its half of the block and
     * two words later. */
    __device__ u32 pair(int p) const
    {
        const uint4 &half = p < 4 ? from.low : from.high;
        bool odd = p % 4 >= 2;
        return ptx::prmt(odd ? half.y : half.x, odd ? half.w : half.z,
                         p % 2 ? 0x7632 : 0x5410);
    }

    template <bool strided>
    __device__ static bytes read(const jg_group &group, int token, int block)
    {
        if (token >= group.m || block >= group.k / block_k)
            return {{0, 0, 0, 0}, {0, 0, 0, 0}};
        const uint4 *from = reinterpret_cast<const uint4 *>(
                                row_of<false, strided>(group, token)) +
                            block * 2;
        return {from[0], from[1]};
    }
};

/* A chunk of a token: a block of each of the four spans. */
template <bool nvfp4> struct activation_row {
    using block = activation_block<nvfp4>;

    typename block::bytes from[4];

    template <bool strided>
    __device__ void load(const jg_group &group, int token, int chunk)
    {
#pragma unroll
        for (int i = 0; i < 4; i++)
            from[i] = block::template read<strided>(
                group, token, first_block(chunk) + i * span_blocks);
    }

    /* As row `row` of a chunk in shared memory. */
    __device__ void store(u8 *chunk, int row) const
    {
        block a(from[0]), b(from[1]), c(from[2]), d(from[3]);

#pragma unroll
        for (int piece = 0; piece < 8; piece++)
            *reinterpret_cast<uint4 *>(
                chunk + activation_piece_offset(row, piece)) = {
                a.pair(piece), b.pair(piece), c.pair(piece), d.pair(piece)};
    }
};

} // namespace mma
