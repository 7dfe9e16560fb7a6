/* SPDX-License-Identifier: MIT */
/* Rows of f16 or bf16, or what an activation makes of them, to NVFP4, for
 * groups whose rows device memory tells.
 *
 * A tile is 128 rows of one group x 512 k, that of a warp's load a row: every
 * lane quantizes a block of 16. What scales make of the group's multiplier is
 * looked up. Scales meet in shared memory, from where they go out in whole
 * pieces; linear ones go out at once. Memory-bound: many warps have loads under
 * way, and tiles that are neighbours in k are done at the same time, so that
 * rows are read in long runs. */
#include <base/conversion.h>
#include <base/types.cuh>
#include <epilogue/scale_stage.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <quant/activation.cuh>
#include <quant/nvfp4_block.cuh>
#include <sched/row_tiles.cuh>
#include <spec.cuh>

constexpr int warps = spec::threads / 32;
constexpr int block_k = 16;
constexpr int tile_blocks = 32; /* one a lane */
constexpr int tile_atoms = tile_blocks * block_k / JG_ATOM_K;
constexpr bool swiglu = spec::activation != JG_NO_ACTIVATION;
constexpr bool interleaved = quant::is_interleaved(spec::activation);
constexpr int parts = swiglu ? 2 : 1; /* elements of x to one of the output */
constexpr int blocks = swiglu ? 3 : 4; /* on a multiprocessor */
constexpr int ahead = swiglu ? 1 : 2; /* rows with loads under way a warp */

using row_tiles = sched::row_tiles<spec::layout, spec::place, spec::threads>;
using scale_stage = epilogue::scale_stage<tile_atoms, spec::threads>;

struct smem {
    scale_stage scales;
    u32 words[sched::team<spec::threads>::words_count];
    quant::block_factors factors;
    int from[JG_ATOM_ROWS]; /* row of x for each of the tile; -1: none */
};
static_assert(sizeof(smem) == spec::smem_bytes);

/* 16 elements of each part. */
struct piece {
    u32 words[8 * parts];

    /* The parts are so many bytes apart. */
    __device__ void load(const u8 *from, u32 apart)
    {
#pragma unroll
        for (int i = 0; i < 8 * parts; i += 4) {
            uint4 four = *reinterpret_cast<const uint4 *>(
                from + i / 8 * apart + i % 8 * 4);
            words[i] = four.x, words[i + 1] = four.y;
            words[i + 2] = four.z, words[i + 3] = four.w;
        }
    }

    __device__ void clear()
    {
#pragma unroll
        for (int i = 0; i < 8 * parts; i++)
            words[i] = 0;
    }
};

/* Pairs of gates to the first eight words, of ups to the others. */
__device__ inline void separate(u32 (&x)[16])
{
    u32 mixed[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        mixed[i] = x[i];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        x[i] = ptx::prmt(mixed[2 * i], mixed[2 * i + 1], 0x5410);
        x[i + 8] = ptx::prmt(mixed[2 * i], mixed[2 * i + 1], 0x7632);
    }
}

/* The scale's byte; spoils x. */
__device__ inline u32 quantize_words(u32 (&x)[8], float global,
                                     const quant::block_factors &factors,
                                     u32 (&words)[2])
{
    return quant::quantize<spec::bf16>(x, global, factors, words);
}

__device__ inline u32 quantize_words(u32 (&x)[16], float global,
                                     const quant::block_factors &factors,
                                     u32 (&words)[2])
{
    using pair = quant::pair<spec::bf16>;
    float y[16];
    if (interleaved)
        separate(x);
    if (spec::activation < JG_SWIGLU_OAI &&
        quant::largest_of<spec::bf16>(x) <= quant::most_gate) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            y[2 * i] =
                quant::swiglu_within(pair::low(x[i]), pair::low(x[i + 8]));
            y[2 * i + 1] =
                quant::swiglu_within(pair::high(x[i]), pair::high(x[i + 8]));
        }
    } else {
        constexpr int kind = spec::activation;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            y[2 * i] =
                quant::activate<kind>(pair::low(x[i]), pair::low(x[i + 8]));
            y[2 * i + 1] =
                quant::activate<kind>(pair::high(x[i]), pair::high(x[i + 8]));
        }
    }
    return quant::quantize(y, global, factors, words);
}

/* Where a lane's block is in the rows of its warp, one after the other. */
struct column {
    const u8 *x;
    u8 *values;
    u8 *scales; /* of the tile's first row */
    long long x_step;
    u32 values_step, scales_step;
    u32 apart; /* what the lane needs of x */

    __device__ column(smem &shared, const jg_conversion_job &job,
                      long long row, int block)
        : x_step(spec::gather ? 0 : warps * job.x_stride),
          values_step(u32(job.k) / 2 * warps),
          scales_step(u32(job.k) / block_k),
          apart(interleaved ? 2 * block_k : 2 * u32(job.k))
    {
        x = job.x + (spec::gather ? 0 : row * job.x_stride) +
            (long long)block * ((interleaved ? 4 : 2) * block_k);
        values =
            job.values + row * (job.k / 2) + (long long)block * (block_k / 2);
        row -= threadIdx.x / 32;
        scales = spec::linear
                     ? job.scales + row * (job.k / block_k) + block
                     : shared.scales.at(0, block % tile_blocks);
    }

    /* Of that row of the tile. */
    __device__ u8 *scale(u32 row) const
    {
        return scales + (spec::linear ? (long long)row * scales_step
                                      : scale_stage::place(row));
    }
};

/* The lane's block of that row of the tile, which is the next one. */
__device__ inline void load_piece(piece &x, const smem &shared,
                                  const jg_conversion_job &job,
                                  const column &at, int row)
{
    if (!spec::gather) {
        x.load(at.x, at.apart);
        return;
    }
    int from = shared.from[row];
    if (from >= 0)
        x.load(at.x + from * job.x_stride, at.apart);
    else
        x.clear();
}

/* One block. */
__device__ inline void quantize_piece(const smem &shared, column &to, int row,
                                      float global, piece &x)
{
    u32 words[2];
    u32 scale = quantize_words(x.words, global, shared.factors, words);

    *to.scale(row) = u8(scale);
    *reinterpret_cast<uint2 *>(to.values) = uint2{words[0], words[1]};
    to.values += to.values_step;
}

__device__ inline float global_scale(const jg_conversion_job &job,
                                     const sched::row_tile &tile)
{
    return job.scale ? job.scale[tile.group] : 1.0f;
}

/* What is the same for all blocks or for all k of a row: a thread each. */
__device__ inline void prepare_tile(smem &shared, const jg_conversion_job &job,
                                    const sched::row_tile &tile)
{
    int i = threadIdx.x;

    if (!spec::linear)
        shared.scales.clear();
    if (i < shared.factors.count)
        shared.factors.set(i, global_scale(job, tile));
    if (spec::gather && i < tile.rows) {
        int from = job.gather[tile.row + i];
        shared.from[i] = from < job.x_rows ? from : -1;
    }
}

/* From that block on. A warp has every eighth row. The first rows are on their
 * way while the tile is prepared, if they need nothing of that. */
__device__ inline void quantize_tile(smem &shared,
                                     const jg_conversion_job &job,
                                     const sched::row_tile &tile, int first)
{
    int block = first + threadIdx.x % 32, row = threadIdx.x / 32;
    int rows = block < job.k / block_k ? tile.rows : 0;
    float global = global_scale(job, tile);
    column at(shared, job, tile.row + row, block);
    piece x[ahead];

    if (spec::gather) {
        prepare_tile(shared, job, tile);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ahead; i++, at.x += at.x_step)
        if (row + i * warps < rows)
            load_piece(x[i], shared, job, at, row + i * warps);
    if (!spec::gather) {
        prepare_tile(shared, job, tile);
        __syncthreads();
    }
#pragma unroll 1
    for (; row < rows; row += ahead * warps)
#pragma unroll
        for (int i = 0; i < ahead; i++, at.x += at.x_step) {
            int now = row + i * warps;
            if (now < rows)
                quantize_piece(shared, at, now, global, x[i]);
            if (now + ahead * warps < rows)
                load_piece(x[i], shared, job, at, now + ahead * warps);
        }
    __syncthreads();
}

__device__ inline void store_scales(smem &shared, const jg_conversion_job &job,
                                    const sched::row_tile &tile, int first)
{
    int atoms = ceil_div(job.k, JG_ATOM_K), before = first / 4;
    u8 *to = job.scales +
             (tile.scale_row / JG_ATOM_ROWS * atoms + before) * JG_ATOM_BYTES;

    shared.scales.store(to, min(tile_atoms, atoms - before));
}

extern "C" __global__ __launch_bounds__(spec::threads, blocks) void
quantize(const jg_conversion_job job)
{
    smem &shared = *reinterpret_cast<smem *>(ptx::dynamic_smem());

    ptx::griddepcontrol_launch_dependents();
    ptx::griddepcontrol_wait();
    row_tiles tiles(job.numbers, shared.words);
    u32 across = ceil_div(job.k, tile_blocks * block_k);
    u32 units = u32(tiles.slots()) * across;
    sched::row_tile tile;

    tiles.report();
    for (u32 unit = blockIdx.x; unit < units; unit += gridDim.x) {
        row_tiles::search search{int(unit / across)};
        int first = int(unit % across) * tile_blocks;
        while (tiles.next(search, tile)) {
            quantize_tile(shared, job, tile, first);
            if (!spec::linear && tile.rows)
                store_scales(shared, job, tile, first);
        }
    }
}
