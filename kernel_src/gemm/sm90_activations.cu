/* SPDX-License-Identifier: MIT */
/* Brings the activations of all groups into the order in which
 * gemm/sm90_nvfp4.cu multiplies them, once, so that its copies are contiguous;
 * with spec::nvfp4 decodes them to f16, else they have 16 bits already.
 *
 * A group's part of the workspace is [chunk of 64 k][atom of 8 tokens][token]
 * [128 bytes], the 16-byte pieces of a row permuted by the 128-byte swizzle.
 * Tokens past m and k past the end are zeros. Memory-bound: a thread decodes a
 * block of 16 k, a team the blocks of 8 tokens and a stage, by way of shared
 * memory, so that all reads and writes are of whole lines. */
#include <base/group.h>
#include <base/types.cuh>
#include <gemm/sm90_groups.cuh>
#include <mma/activations.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <spec.cuh>

constexpr int chunks = spec::tile_k / mma::chunk_k; /* a stage */
constexpr int blocks = spec::tile_k / mma::block_k; /* likewise */
constexpr int team = mma::atom_rows * blocks;       /* threads */
constexpr int teams = spec::threads / team;         /* of a block */
static_assert(spec::threads % team == 0);

using groups =
    gemm::groups_from<spec::own_table, spec::strided, true, spec::threads>;

using stage = u8[chunks][mma::atom_bytes]; /* of 8 tokens */
static_assert(teams * sizeof(stage) + groups::shared_bytes ==
              spec::smem_bytes);

/* Where a byte of a chunk's atom is in shared memory: the chunks that a warp
 * writes to at once are in different banks. */
__device__ inline int staged(int chunk, int byte)
{
    return byte ^ chunk * (128 / chunks);
}

/* What a team decodes: of a group, 8 tokens and the chunks of a stage. */
struct unit {
    int atom, chunk; /* the first */
};

/* A block of 16: pair p of it is part of piece p. */
__device__ void decode(const jg_group &group, const unit &unit, int thread,
                       stage &to)
{
    int row = thread / blocks, block = thread % blocks;
    using activations = mma::activation_block<spec::nvfp4>;
    activations from(activations::read<spec::strided>(
        group, unit.atom * mma::atom_rows + row,
        unit.chunk * (blocks / chunks) + block));
    int chunk = block / (4 * mma::span_blocks) * 2 + block % 2;
    int part = block / mma::span_blocks % 4 * sizeof(u32);

#pragma unroll
    for (int piece = 0; piece < 8; piece++)
        *reinterpret_cast<u32 *>(
            to[chunk] +
            staged(chunk, mma::activation_piece_offset(row, piece) + part)) =
            from.pair(piece);
}

__device__ void store(const jg_group &group, const unit &unit, int thread,
                      const stage &from, u8 *workspace)
{
    size_t atoms = ceil_div(group.m, mma::atom_rows);
    u8 *to = workspace + group.activations +
             (unit.chunk * atoms + unit.atom) * mma::atom_bytes;

#pragma unroll
    for (int i = 0; i < int(sizeof from) / (team * 16); i++) {
        int at = (i * team + thread) * 16;
        int chunk = at / mma::atom_bytes, byte = at % mma::atom_bytes;
        *reinterpret_cast<uint4 *>(to + chunk * atoms * mma::atom_bytes +
                                   byte) =
            *reinterpret_cast<const uint4 *>(from[chunk] +
                                             staged(chunk, byte));
    }
}

extern "C" __global__ __launch_bounds__(spec::threads) void
sm90_activations(const __grid_constant__ groups::parameter given)
{
    stage *stages = reinterpret_cast<stage *>(ptx::dynamic_smem());
    int own = threadIdx.x / team, thread = threadIdx.x % team;

    ptx::griddepcontrol_launch_dependents();
    const groups table =
        groups::awaited(given, reinterpret_cast<u8 *>(stages + teams));
    for (int first = (blockIdx.x * teams + own) * chunks; first < table.units();
         first += gridDim.x * teams * chunks) {
        int local = first;
        groups::handle of = table.find_unit(local);
        const jg_group &group = table.of(of);
        unit unit = {local / group.chunks, local % group.chunks};

        decode(group, unit, thread, stages[own]);
        ptx::bar_sync(1 + own, team);
        store(group, unit, thread, stages[own], table.workspace);
        ptx::bar_sync(1 + own, team);
    }
    table.fill_tail();
}
