/* SPDX-License-Identifier: MIT */
/* Decodes the activations of all groups to f16 once, in the order in which
 * gemm/sm90_nvfp4.cu multiplies them, so that its copies are contiguous.
 *
 * A group's part of the workspace is [chunk of 64 k][atom of 8 tokens][token]
 * [128 bytes], the 16-byte pieces of a row permuted by the 128-byte swizzle.
 * Tokens past m and k past the end are zeros. 64 threads, 8 tokens x 8 pieces,
 * fill the atoms of a stage. Memory-bound: all loads of a stage are under way
 * at once, and those of consecutive stages in a block make whole lines. */
#include <base/group.h>
#include <base/types.cuh>
#include <mma/activations.cuh>
#include <ptx/sync.cuh>
#include <sched/tiles.cuh>
#include <spec.cuh>

constexpr int atom_threads = 64;
constexpr int chunks = spec::tile_k / mma::chunk_k; /* a stage */

extern "C" __global__ __launch_bounds__(spec::threads) void
sm90_activations(const jg_table table)
{
    ptx::griddepcontrol_launch_dependents();

    int unit = (blockIdx.x * (spec::threads / atom_threads) +
                threadIdx.x / atom_threads) *
               chunks;
    if (unit >= table.units)
        return;

    int g = sched::find_group(table.first_unit, table.count, unit);
    const jg_group &group = table.groups[g];
    int local = unit - table.first_unit[g];
    int chunk = local % group.chunks, atom = local / group.chunks;
    int row = threadIdx.x / 8 % mma::atom_rows, piece = threadIdx.x % 8;

    size_t atoms = ceil_div(group.m, mma::atom_rows);
    u8 *to = table.workspace + group.activations +
             (chunk * atoms + atom) * mma::atom_bytes +
             mma::activation_piece_offset(row, piece);
    u32 words[chunks][4], bytes[chunks][4];
#pragma unroll
    for (int i = 0; i < chunks; i++)
        mma::activation_row<chunks>(group, atom * mma::atom_rows + row,
                                    chunk + i)
            .load(words[i], bytes[i], piece);
#pragma unroll
    for (int i = 0; i < chunks; i++)
        *reinterpret_cast<uint4 *>(to + i * atoms * mma::atom_bytes) =
            mma::activation_piece(words[i], bytes[i], piece);
}
