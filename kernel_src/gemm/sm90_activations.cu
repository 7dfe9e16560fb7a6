/* SPDX-License-Identifier: MIT */
/* Decodes the activations of all groups to f16 once, in the order in which
 * gemm/sm90_nvfp4.cu multiplies them, so that its copies are contiguous.
 *
 * A group's part of the workspace is [chunk of 64 k][atom of 8 tokens][token]
 * [128 bytes], the 16-byte pieces of a row permuted by the 128-byte swizzle.
 * Tokens past m and k past the end are zeros. 64 threads fill an atom: 8
 * tokens x 8 pieces. Memory-bound; consecutive atoms of a block are
 * consecutive in k, so the loads of a token make whole lines. */
#include <base/group.h>
#include <base/types.cuh>
#include <mma/nvfp4.cuh>
#include <mma/wgmma_tile.cuh>
#include <ptx/sync.cuh>
#include <sched/tiles.cuh>
#include <spec.cuh>

constexpr int atom_threads = 64;
constexpr int block_k = 16; /* k that share a scale */

/* Pair `piece` of the four blocks of a chunk. */
__device__ uint4 decode_piece(const jg_group &group, int token, int chunk,
                              int piece)
{
    if (token >= group.m || chunk * mma::chunk_k >= group.k)
        return {0, 0, 0, 0};

    const u8 *codes = group.a + size_t(token) * (group.k / 2) +
                      chunk * (mma::chunk_k / 2) + piece / 4 * 4;
    size_t scale_chunks = ceil_div(group.k, mma::chunk_k);
    u32 scales = *reinterpret_cast<const u32 *>(
        group.sfa + (token / 128 * scale_chunks + chunk) * 512 +
        token % 32 * 16 + token % 128 / 32 * 4);
    /* k is a multiple of two blocks: the last two may be missing. */
    int blocks = min(4, group.k / block_k - 4 * chunk);

    u32 pairs[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        pairs[i] = i >= blocks
                       ? 0
                       : mma::decode_pair(
                             *reinterpret_cast<const u32 *>(codes + 8 * i),
                             piece % 4,
                             mma::decode_scale(scales >> (8 * i) & 0xff));
    return {pairs[0], pairs[1], pairs[2], pairs[3]};
}

extern "C" __global__ __launch_bounds__(spec::threads) void
sm90_activations(const jg_table table)
{
    ptx::griddepcontrol_launch_dependents();

    int unit = blockIdx.x * (spec::threads / atom_threads) +
               threadIdx.x / atom_threads;
    if (unit >= table.units)
        return;

    int g = sched::find_group(table.first_unit, table.count, unit);
    const jg_group &group = table.groups[g];
    int local = unit - table.first_unit[g];
    int chunk = local % group.chunks, atom = local / group.chunks;
    int row = threadIdx.x / 8 % mma::atom_rows, piece = threadIdx.x % 8;

    size_t atoms = ceil_div(group.m, mma::atom_rows);
    u8 *to = table.workspace + group.activations +
             (chunk * atoms + atom) * mma::atom_bytes + row * 128 +
             ((piece ^ row) << 4);
    *reinterpret_cast<uint4 *>(to) =
        decode_piece(group, atom * mma::atom_rows + row, chunk, piece);
}
