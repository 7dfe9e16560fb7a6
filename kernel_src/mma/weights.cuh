/* SPDX-License-Identifier: MIT */
/* Weights from shared memory, as copied, to fragments of the product. */
#pragma once
#include <base/group.h>
#include <base/types.cuh>
#include <mma/mxfp4.cuh>
#include <mma/nvfp4.cuh>
#include <mma/wgmma_tile.cuh>

namespace mma {

/* Of jg_weights to the type that is multiplied. */
template <int weights, int type> struct weights_to;
template <int type> struct weights_to<JG_W_NVFP4, type> : nvfp4_to<type> {};
template <> struct weights_to<JG_W_MXFP4, JG_BF16> : mxfp4_to_bf16 {};

/* What a thread decodes of a stage of `chunks` chunks: rows g and g + 8 of its
 * warp's 16, of each the span c; g = lane / 4, c = lane % 4. */
template <class to, int chunks> struct weight_reader {
    static constexpr int row_bytes = chunks * chunk_k / 2; /* a stage */
    using scales_of_span = typename to::span_scales;
    static constexpr int span_scales = sizeof(scales_of_span);
    static constexpr int atom_spans = 4 / span_scales;
    static constexpr int stage_atoms = 2 * chunks / atom_spans;

    int codes, swizzle; /* of row g: byte of a stage, and what its 16-byte
                           units are permuted by; row g + 8 has the same */
    int scales;         /* byte of a stage */
    int span;           /* c */
    u32 factors[2][chunks / 2]; /* by row: the stage's scales */
    uint4 words[2];             /* by row: codes of two chunks */

    __device__ weight_reader(int warp)
    {
        int row = 16 * warp + threadIdx.x % 32 / 4;
        span = threadIdx.x % 4;
        codes = row * row_bytes;
        swizzle = (codes >> 7 & (row_bytes / 16 - 1)) << 4;
        scales =
            (row / 128 * stage_atoms + span / atom_spans) * scale_atom_bytes +
            scale_offset(row) + span % atom_spans * span_scales;
    }

    /* A stage's scales. Of the stage, `inside` of a row are inside k, those
     * of whole spans; at the others the memory holds anything. */
    __device__ void load_scales(const u8 *stage, int inside)
    {
#pragma unroll
        for (int j = 0; j < chunks / 2; j++) {
            bool some = 4 * span_scales * j + span * span_scales < inside;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                u32 bytes = *reinterpret_cast<const scales_of_span *>(
                    stage + scales + span_scales * j * scale_atom_bytes +
                    i * 8 * 16);
                factors[i][j] = to::factors(some ? bytes & to::scale_bits : 0);
            }
        }
    }

    /* The codes of two chunks, of which the first is even. */
    __device__ void load_codes(const u8 *stage, int chunk)
    {
        const u8 *from =
            stage + codes + ((chunk * (chunk_k / 2) + span * 16) ^ swizzle);
#pragma unroll
        for (int i = 0; i < 2; i++)
            words[i] =
                *reinterpret_cast<const uint4 *>(from + i * 8 * row_bytes);
    }

    /* Of a chunk whose codes and scales have been loaded. */
    __device__ void fragment(u32 (&a)[4][4], int chunk) const
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            typename to::spread low = chunk % 2 ? words[i].z : words[i].x;
            typename to::spread high = chunk % 2 ? words[i].w : words[i].y;
#pragma unroll
            for (int pair = 0; pair < 8; pair++)
                a[pair / 2][i + 2 * (pair % 2)] = to::scaled(
                    pair < 4 ? low.pair(pair) : high.pair(pair - 4),
                    factors[i][chunk / 2], chunk % 2);
        }
    }
};

} // namespace mma
