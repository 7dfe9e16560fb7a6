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

/* A block of 16 k of a token; zeros outside. */
struct activation_block {
    spread low, high; /* codes */
    u32 factor;       /* the scale as f16 */

    __device__ activation_block(const jg_group &group, int token, int block)
        : activation_block(read(group, token, block))
    {
    }

    /* Pair p, as in mma/wgmma_tile.cuh. */
    __device__ u32 pair(int p) const
    {
        return ptx::mul_f16x2_half(p < 4 ? low.pair(p) : high.pair(p - 4),
                                   factor, 0);
    }

  private:
    struct bytes {
        uint2 codes;
        u32 scale;
    };

    __device__ explicit activation_block(bytes from)
        : low(from.codes.x), high(from.codes.y),
          factor(ptx::cvt_f16x2_e4m3x2(from.scale & 0x7f))
    {
    }

    __device__ static bytes read(const jg_group &group, int token, int block)
    {
        if (token >= group.m || block >= group.k / block_k)
            return {{0, 0}, 0};
        return {*reinterpret_cast<const uint2 *>(
                    group.a + size_t(token) * (group.k / 2) + block * 8),
                group.sfa[(size_t(token / 128) * ceil_div(group.k, chunk_k) +
                           block / 4) *
                              scale_atom_bytes +
                          scale_offset(token) + block % 4]};
    }
};

/* The part of a token that a chunk of the product takes: a block of each of
 * the four spans, `chunks` blocks apart. */
template <int chunks> struct activation_row {
    const u8 *codes, *scales; /* of the token */
    int block;                /* of the first span */
    int blocks;               /* inside k; 0: past the last token */

    __device__ activation_row(const jg_group &group, int token, int chunk)
        : codes(group.a + size_t(token) * (group.k / 2)),
          scales(group.sfa + size_t(token / 128) *
                                 ceil_div(group.k, chunk_k) *
                                 scale_atom_bytes +
                 scale_offset(token)),
          block(chunk / chunks * (4 * chunks) + chunk % chunks),
          blocks(token < group.m ? group.k / block_k : 0)
    {
    }

    /* One piece's words of codes and scale bytes; zeros outside. */
    __device__ void load(u32 (&words)[4], u32 (&bytes)[4], int piece) const
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int b = block + i * chunks;
            words[i] = bytes[i] = 0;
            if (b >= blocks)
                continue;
            words[i] = *reinterpret_cast<const u32 *>(codes + b * 8 +
                                                      piece / 4 * 4);
            bytes[i] = scales[size_t(b / 4) * scale_atom_bytes + b % 4];
        }
    }
};

__device__ inline uint4 activation_piece(const u32 (&words)[4],
                                         const u32 (&bytes)[4], int piece)
{
    u32 low = ptx::cvt_f16x2_e4m3x2((bytes[0] | bytes[1] << 8) & 0x7f7f);
    u32 high = ptx::cvt_f16x2_e4m3x2((bytes[2] | bytes[3] << 8) & 0x7f7f);
    return {ptx::mul_f16x2_half(spread(words[0]).pair(piece % 4), low, 0),
            ptx::mul_f16x2_half(spread(words[1]).pair(piece % 4), low, 1),
            ptx::mul_f16x2_half(spread(words[2]).pair(piece % 4), high, 0),
            ptx::mul_f16x2_half(spread(words[3]).pair(piece % 4), high, 1)};
}

} // namespace mma
