/* SPDX-License-Identifier: MIT */
/* C = A * B^T on pairs of blocks of a Blackwell, to plant bugs in: plain, but
 * with all that a fast kernel has to get right. A tile of 256 x 128 is a
 * pair's: each block copies its 128 rows of A and their scales, 64 rows of B,
 * and the scales of all of B. In both blocks warps 0 to 3 are the epilogue and
 * warp 5 copies; warp 4 of the leader multiplies.
 *
 * barrier    of      count        arrives             waits
 * full       leader  1 + bytes    copying threads     multiplying thread
 * empty      each    1            commit              copying thread
 * acc_full   each    1            commit              epilogue
 * acc_empty  leader  256          both epilogues      multiplying thread
 */
#include <base/types.cuh>
#include <mma/tcgen05_tile.cuh>
#include <pipeline/ring.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>

constexpr int stages = 3, accumulators = 2;
constexpr int tile_m = 256, tile_n = 128, tile_k = 256;
constexpr int rows_a = tile_m / 2, rows_b = tile_n / 2; /* a block's */
constexpr int products = tile_k / mma::product_k;       /* a stage */
constexpr u32 columns = 512;
constexpr u32 scales_column = accumulators * tile_n;
constexpr u32 scale_bytes = products * mma::scale_atom_bytes;
constexpr u32 stage_bytes =
    (rows_a + rows_b) * mma::operand_row_bytes + 2 * scale_bytes;

struct alignas(64) tensor_map {
    u8 bytes[128];
};

struct problem {
    tensor_map a, b, sfa, sfb; /* scales: rows of 128 bytes, four an atom */
    float *c;
    int m, n, k;
};

struct smem { /* 1024-byte aligned */
    u8 a[stages][rows_a * mma::operand_row_bytes];
    u8 b[stages][rows_b * mma::operand_row_bytes];
    u8 sfa[stages][scale_bytes];
    u8 sfb[stages][scale_bytes];
    pipeline::barriers<stages> stage;
    pipeline::barriers<accumulators> accumulator;
    u32 tensor_memory;
};

using stage_ring = pipeline::ring<stages>;
using accumulator_ring = pipeline::ring<accumulators>;

struct tile {
    int row, column; /* of the pair's */
    bool exists;
};

__device__ tile find(const problem &p, int index)
{
    int wide = ceil_div(p.n, tile_n);

    return {index / wide * tile_m, index % wide * tile_n,
            index < ceil_div(p.m, tile_m) * wide};
}

__device__ void cluster_sync()
{
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

__device__ void load(smem &shared, const stage_ring &ring, const problem &p,
                     const tile &t, int k)
{
    ptx::mbarrier *full = &ring.shared.full[ring.slot];
    int rank = int(ptx::cluster_ctarank()), slot = ring.slot;
    int row = t.row + rank * rows_a;
    int atoms = ceil_div(p.k, mma::product_k), atom = k / mma::product_k;

    if (rank == 0)
        ptx::mbarrier_arrive_expect_tx(full, 2 * stage_bytes);
    ptx::cp_async_bulk_tensor_2d_pair(shared.a[slot], &p.a, k / 2, row, full);
    ptx::cp_async_bulk_tensor_2d_pair(shared.b[slot], &p.b, k / 2,
                                      t.column + rank * rows_b, full);
    ptx::cp_async_bulk_tensor_2d_pair(
        shared.sfa[slot], &p.sfa, 0,
        4 * (row / mma::scale_atom_rows * atoms + atom), full);
    ptx::cp_async_bulk_tensor_2d_pair(
        shared.sfb[slot], &p.sfb, 0,
        4 * (t.column / mma::scale_atom_rows * atoms + atom), full);
}

/* A block must not end before the last commits have come to its barriers. */
__device__ void copying(smem &shared, const problem &p)
{
    stage_ring ring{shared.stage};

    for (int i = blockIdx.x / 2;; i += gridDim.x / 2) {
        tile t = find(p, i);
        if (!t.exists)
            break;
        for (int k = 0; k < p.k; k += tile_k) {
            ring.wait_empty();
            load(shared, ring, p, t, k);
            ring.next();
        }
    }
    for (int i = 0; i < stages; i++) {
        ring.wait_empty(); /* tail */
        ring.next();
    }
}

__device__ void multiply(smem &shared, int slot, u32 d, u32 base, int k,
                         bool first)
{
    u64 a = mma::operand_descriptor(ptx::shared_address(shared.a[slot]));
    u64 b = mma::operand_descriptor(ptx::shared_address(shared.b[slot]));
    u64 sfa = mma::scale_descriptor(ptx::shared_address(shared.sfa[slot]));
    u64 sfb = mma::scale_descriptor(ptx::shared_address(shared.sfb[slot]));
    u32 scales = base + scales_column + 32 * u32(slot);

    for (int i = 0; i < products && i * mma::product_k < k; i++) {
        u64 atom = mma::descriptor_step(i * mma::scale_atom_bytes);
        u64 step = mma::descriptor_step(i * mma::product_bytes);
        u32 to = scales + u32(i * mma::scale_atom_columns);

        ptx::tcgen05_cp_32x128b_warpx4<2>(to, sfa + atom);
        ptx::tcgen05_cp_32x128b_warpx4<2>(to + 16, sfb + atom);
        ptx::tcgen05_mma_mxf4nvf4<2>(d, a + step, b + step,
                                     mma::product_instruction(tile_m, tile_n),
                                     to, to + 16, !first || i > 0);
    }
}

__device__ void multiplying(smem &shared, const problem &p)
{
    stage_ring ring{shared.stage};
    accumulator_ring out{shared.accumulator};
    u32 base = shared.tensor_memory;

    for (int i = blockIdx.x / 2; find(p, i).exists; i += gridDim.x / 2) {
        out.wait_empty();
        ptx::tcgen05_fence_after_thread_sync(); /* accumulator */
        for (int k = 0; k < p.k; k += tile_k) {
            ring.wait_full();
            ptx::tcgen05_fence_after_thread_sync(); /* scales */
            multiply(shared, ring.slot, base + u32(out.slot * tile_n), base,
                     p.k - k, k == 0);
            ptx::tcgen05_commit_multicast<2>(&shared.stage.empty[ring.slot],
                                             3);
            ring.next();
        }
        ptx::tcgen05_commit_multicast<2>(&shared.accumulator.full[out.slot],
                                         3);
        out.next();
    }
}

__device__ void epilogue(smem &shared, const problem &p)
{
    accumulator_ring in{shared.accumulator};
    int warp = threadIdx.x / 32;

    for (int i = blockIdx.x / 2;; i += gridDim.x / 2) {
        tile t = find(p, i);
        if (!t.exists)
            return;
        float d[tile_n / 32][32];
        in.wait_full();
        ptx::tcgen05_fence_after_thread_sync(); /* before the load */
        for (int j = 0; j < tile_n / 32; j++)
            ptx::tcgen05_ld_32x32b_x32(
                d[j], mma::tensor_address(shared.tensor_memory, 32 * warp,
                                          in.slot * tile_n + 32 * j));
        ptx::tcgen05_wait_ld();
        ptx::tcgen05_fence_before_thread_sync(); /* after the load */
        ptx::mbarrier_arrive_cluster(&shared.accumulator.empty[in.slot], 0);
        in.next();
        int row = t.row + int(ptx::cluster_ctarank()) * rows_a +
                  int(threadIdx.x);
        for (int j = 0; j < tile_n && row < p.m; j++)
            if (t.column + j < p.n)
                p.c[size_t(row) * p.n + t.column + j] = d[j / 32][j % 32];
    }
}

__device__ void initialize(smem &shared)
{
    for (int i = 0; i < stages; i++) {
        ptx::mbarrier_init(&shared.stage.full[i], 1);
        ptx::mbarrier_init(&shared.stage.empty[i], 1);
    }
    for (int i = 0; i < accumulators; i++) {
        ptx::mbarrier_init(&shared.accumulator.full[i], 1);
        ptx::mbarrier_init(&shared.accumulator.empty[i], 256);
    }
    ptx::fence_mbarrier_init();
}

extern "C" __global__ __launch_bounds__(192) void
pair_pipeline(const __grid_constant__ problem p)
{
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    smem &shared = *reinterpret_cast<smem *>(memory);
    int warp = threadIdx.x / 32;
    bool leads = ptx::cluster_ctarank() == 0;

    if (threadIdx.x == 0)
        initialize(shared);
    cluster_sync(); /* barriers */
    if (warp == 4) {
        ptx::tcgen05_alloc<2>(&shared.tensor_memory, columns);
        ptx::tcgen05_relinquish_alloc_permit<2>();
    }
    ptx::tcgen05_fence_before_thread_sync(); /* allocation */
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync(); /* allocation */

    if (warp < 4)
        epilogue(shared, p);
    else if (warp == 4 && leads && ptx::elect_one())
        multiplying(shared, p);
    else if (warp == 5 && ptx::elect_one())
        copying(shared, p);

    ptx::tcgen05_fence_before_thread_sync(); /* end */
    cluster_sync();                          /* end */
    ptx::tcgen05_fence_after_thread_sync();  /* end */
    if (warp == 4)
        ptx::tcgen05_dealloc<2>(shared.tensor_memory, columns);
}
