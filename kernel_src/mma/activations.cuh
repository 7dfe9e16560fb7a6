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

/* A block of 16 k of a token; zeros outside. */
template <bool nvfp4> struct activation_block;

template <> struct activation_block<true> {
    to_f16::spread low, high; /* codes */
    u32 factor;               /* the scale as f16 */

    __device__ activation_block(const jg_group &group, int token, int block)
        : activation_block(read(group, token, block))
    {
    }

    /* Pair p, as in mma/wgmma_tile.cuh. */
    __device__ u32 pair(int p) const
    {
        return to_f16::scaled(p < 4 ? low.pair(p) : high.pair(p - 4), factor,
                              0);
    }

  private:
    struct bytes {
        uint2 codes;
        u32 scale;
    };

    __device__ explicit activation_block(bytes from)
        : low(from.codes.x), high(from.codes.y),
          factor(to_f16::factors(from.scale & 0x7f))
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

/* The halves of two words that are the pair `p` of a block, p / 2 % 2 words
 * into its half and two words later. */
__device__ inline u32 activation_pair(u32 first, u32 second, int p)
{
    return ptx::prmt(first, second, p % 2 ? 0x7632 : 0x5410);
}

/* Elements of 16 bits. */
template <> struct activation_block<false> {
    uint4 low, high;

    __device__ activation_block(const jg_group &group, int token, int block)
        : low{0, 0, 0, 0}, high{0, 0, 0, 0}
    {
        if (token >= group.m || block >= group.k / block_k)
            return;
        const uint4 *from =
            reinterpret_cast<const uint4 *>(group.a) +
            (size_t(token) * (group.k / block_k) + block) * 2;
        low = from[0];
        high = from[1];
    }

    __device__ u32 pair(int p) const
    {
        const uint4 &half = p < 4 ? low : high;
        return p % 4 < 2 ? activation_pair(half.x, half.z, p)
                         : activation_pair(half.y, half.w, p);
    }
};

/* The part of a token that a chunk of the product takes: a block of each of
 * the four spans. Of a piece load() reads two words for each of the four,
 * which make() makes the piece of; zeros outside. */
template <bool nvfp4> struct activation_row;

template <> struct activation_row<true> {
    const u8 *codes, *scales; /* of the token */
    int block;                /* of the first span */
    int blocks;               /* inside k; 0: past the last token */

    __device__ activation_row(const jg_group &group, int token, int chunk)
        : codes(group.a + size_t(token) * (group.k / 2)),
          scales(group.sfa + size_t(token / 128) *
                                 ceil_div(group.k, chunk_k) *
                                 scale_atom_bytes +
                 scale_offset(token)),
          block(first_block(chunk)),
          blocks(token < group.m ? group.k / block_k : 0)
    {
    }

    /* Codes, and a byte of scales. */
    __device__ void load(u32 (&words)[4], u32 (&bytes)[4], int piece) const
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int b = block + i * span_blocks;
            words[i] = bytes[i] = 0;
            if (b >= blocks)
                continue;
            words[i] = *reinterpret_cast<const u32 *>(codes + b * 8 +
                                                      piece / 4 * 4);
            bytes[i] = scales[size_t(b / 4) * scale_atom_bytes + b % 4];
        }
    }

    __device__ static uint4 make(const u32 (&words)[4], const u32 (&bytes)[4],
                                 int piece)
    {
        u32 low = to_f16::factors((bytes[0] | bytes[1] << 8) & 0x7f7f);
        u32 high = to_f16::factors((bytes[2] | bytes[3] << 8) & 0x7f7f);
        int i = piece % 4;
        return {to_f16::scaled(to_f16::spread(words[0]).pair(i), low, 0),
                to_f16::scaled(to_f16::spread(words[1]).pair(i), low, 1),
                to_f16::scaled(to_f16::spread(words[2]).pair(i), high, 0),
                to_f16::scaled(to_f16::spread(words[3]).pair(i), high, 1)};
    }
};

template <> struct activation_row<false> {
    const u8 *elements; /* of the token */
    int block;          /* of the first span */
    int blocks;         /* inside k; 0: past the last token */

    __device__ activation_row(const jg_group &group, int token, int chunk)
        : elements(group.a + size_t(token) * group.k * 2),
          block(first_block(chunk)),
          blocks(token < group.m ? group.k / block_k : 0)
    {
    }

    __device__ void load(u32 (&first)[4], u32 (&second)[4], int piece) const
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int b = block + i * span_blocks;
            first[i] = second[i] = 0;
            if (b >= blocks)
                continue;
            const u32 *from = reinterpret_cast<const u32 *>(elements) + b * 8 +
                              piece / 4 * 4 + piece / 2 % 2;
            first[i] = from[0];
            second[i] = from[2];
        }
    }

    __device__ static uint4 make(const u32 (&first)[4], const u32 (&second)[4],
                                 int piece)
    {
        return {activation_pair(first[0], second[0], piece),
                activation_pair(first[1], second[1], piece),
                activation_pair(first[2], second[2], piece),
                activation_pair(first[3], second[3], piece)};
    }
};

} // namespace mma
