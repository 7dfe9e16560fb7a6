/* SPDX-License-Identifier: MIT */
/* Weights from shared memory, as copied, to fragments of the product. */
#pragma once
#include <base/types.cuh>
#include <mma/nvfp4.cuh>
#include <mma/wgmma_tile.cuh>

namespace mma {

/* What a thread decodes: rows g and g + 8 of its warp's 16, and of each chunk
 * the block c; g = lane / 4, c = lane % 4. A row has `row_bytes` a stage. */
template <int row_bytes> struct weight_reader {
    int block;
    int codes, swizzle; /* of row g: byte of a stage, and what its 16-byte
                           units are permuted by; row g + 8 has the same */
    int scales;         /* byte of a chunk */

    __device__ weight_reader(int warp)
    {
        int row = 16 * warp + threadIdx.x % 32 / 4;
        block = threadIdx.x % 4;
        codes = row * row_bytes;
        swizzle = (codes >> 7 & (row_bytes / 16 - 1)) << 4;
        scales = row % 32 * 16 + row / 32 * 4 + block;
    }

    /* `weights` is of a stage, `chunk_scales` of the chunk-th chunk in it.
     * Scales past the end of k are whatever the memory holds. */
    __device__ void fragment(u32 (&a)[4][4], const u8 *weights,
                             const u8 *chunk_scales, int chunk,
                             bool inside) const
    {
        const u8 *from =
            weights + codes + ((32 * chunk + 8 * block) ^ swizzle);
        const u8 *scale = chunk_scales + scales;
#pragma unroll
        for (int i = 0; i < 2; i++)
            decode_row(a, i,
                       *reinterpret_cast<const uint2 *>(from +
                                                        i * 8 * row_bytes),
                       decode_scale(inside ? scale[i * 128] : 0));
    }
};

} // namespace mma
