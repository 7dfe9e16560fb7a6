/* SPDX-License-Identifier: MIT */
/* Row-major e4m3 scales into the blocked layout, for groups whose rows device
 * memory tells.
 *
 * A tile is 128 rows of one group x 2048 k, 128 bytes a row. Loads are of 16
 * bytes, or of what size and alignment of the rows allow; stores of 16 bytes
 * always, by way of shared memory. */
#include <base/conversion.h>
#include <base/types.cuh>
#include <epilogue/scale_stage.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <sched/row_tiles.cuh>
#include <spec.cuh>

constexpr int tile_blocks = 128;
constexpr int tile_atoms = tile_blocks / 4;
constexpr int batch = 4; /* words that a thread loads before it uses one */

using row_tiles = sched::row_tiles<spec::layout, spec::place, spec::threads>;
using scale_stage = epilogue::scale_stage<tile_atoms, spec::threads>;

struct smem {
    scale_stage scales;
    u32 words[sched::team<spec::threads>::words_count];
};
static_assert(sizeof(smem) == spec::smem_bytes);

__device__ inline void put(scale_stage &to, int row, int block, u8 byte)
{
    *to.at(row, block) = byte;
}

__device__ inline void put(scale_stage &to, int row, int block, u32 word)
{
    *reinterpret_cast<u32 *>(to.at(row, block)) = word;
}

__device__ inline void put(scale_stage &to, int row, int block, uint4 words)
{
    put(to, row, block, words.x);
    put(to, row, block + 4, words.y);
    put(to, row, block + 8, words.z);
    put(to, row, block + 12, words.w);
}

/* A tile from that block on, word by word. */
template <class word>
__device__ inline void stage_tile(scale_stage &to,
                                  const jg_conversion_job &job,
                                  const sched::row_tile &tile, int first)
{
    constexpr int size = sizeof(word);
    constexpr int across = tile_blocks / size;
    constexpr int down = spec::threads / across; /* rows at once */
    int block = threadIdx.x % across * size;
    const u8 *from = job.x + tile.row * job.x_stride + first + block;

    if (first + block >= job.k / 16)
        return;
#pragma unroll 1
    for (int row = threadIdx.x / across; row < tile.rows;
         row += batch * down) {
        word words[batch];
#pragma unroll
        for (int i = 0; i < batch; i++)
            if (row + i * down < tile.rows)
                words[i] = *reinterpret_cast<const word *>(
                    from + (row + i * down) * job.x_stride);
#pragma unroll
        for (int i = 0; i < batch; i++)
            if (row + i * down < tile.rows)
                put(to, row + i * down, block, words[i]);
    }
}

__device__ inline void stage_any(scale_stage &to, const jg_conversion_job &job,
                                 const sched::row_tile &tile, int first)
{
    u64 sizes =
        reinterpret_cast<u64>(job.x) | u64(job.x_stride) | u64(job.k / 16);

    if (sizes % 16 == 0)
        stage_tile<uint4>(to, job, tile, first);
    else if (sizes % 4 == 0)
        stage_tile<u32>(to, job, tile, first);
    else
        stage_tile<u8>(to, job, tile, first);
}

__device__ inline void store_scales(scale_stage &from,
                                    const jg_conversion_job &job,
                                    const sched::row_tile &tile, int first)
{
    int atoms = ceil_div(job.k, JG_ATOM_K), before = first / 4;
    u8 *to = job.scales +
             (tile.scale_row / JG_ATOM_ROWS * atoms + before) * JG_ATOM_BYTES;

    from.store(to, min(tile_atoms, atoms - before));
}

extern "C" __global__ __launch_bounds__(spec::threads, 3) void
blocked_scales(const jg_conversion_job job)
{
    smem &shared = *reinterpret_cast<smem *>(ptx::dynamic_smem());

    ptx::griddepcontrol_launch_dependents();
    ptx::griddepcontrol_wait();
    row_tiles tiles(job.numbers, shared.words);
    u32 across = ceil_div(job.k, tile_blocks * 16);
    u32 units = u32(tiles.slots()) * across;
    sched::row_tile tile;

    tiles.report();
    for (u32 unit = blockIdx.x; unit < units; unit += gridDim.x) {
        row_tiles::search search{int(unit / across)};
        int first = int(unit % across) * tile_blocks;
        while (tiles.next(search, tile)) {
            shared.scales.clear();
            __syncthreads();
            stage_any(shared.scales, job, tile, first);
            __syncthreads();
            if (tile.rows)
                store_scales(shared.scales, job, tile, first);
        }
    }
}
