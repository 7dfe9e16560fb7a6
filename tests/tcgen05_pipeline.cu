/* SPDX-License-Identifier: MIT */
/* C = A * B^T for some groups on Blackwell, to plant bugs in: plain, but with
 * all that a fast kernel has to get right. Warps 0 to 3 are the epilogue, warp
 * 4 multiplies, warp 5 copies and rewrites the tensor maps.
 *
 * barrier    count        arrives            waits
 * full       1 + bytes    copying thread     multiplying thread
 * empty      1            commit             copying thread
 * acc_full   1            commit             epilogue
 * acc_empty  128          epilogue           multiplying thread
 */
#include <base/types.cuh>
#include <mma/tcgen05_tile.cuh>
#include <pipeline/ring.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>
#include <ptx/tensormap.cuh>
#include <ptx/tma.cuh>

constexpr int stages = 3, accumulators = 2;
constexpr int tile_m = 128, tile_n = 128, tile_k = 256;
constexpr int products = tile_k / mma::product_k; /* a stage */
constexpr u32 columns = 512;
constexpr u32 scales_column = accumulators * tile_n;
constexpr u32 operand_bytes = tile_m * tile_k / 2;

struct alignas(64) tensor_map {
    u8 bytes[128];
};

struct group {
    const u8 *a, *b, *sfa, *sfb;
    float *c;
    int m, n, k;
};

struct problem {
    const group *groups;
    tensor_map *maps; /* two a block */
    int count;
};

struct smem { /* 1024-byte aligned */
    u8 a[stages][operand_bytes];
    u8 b[stages][operand_bytes];
    u8 sfa[stages][products][mma::scale_atom_bytes];
    u8 sfb[stages][products][mma::scale_atom_bytes];
    pipeline::barriers<stages> stage;
    pipeline::barriers<accumulators> accumulator;
    u32 tensor_memory;
};

using stage_ring = pipeline::ring<stages>;
using accumulator_ring = pipeline::ring<accumulators>;

struct tile {
    const group *g;
    int row, column;
};

/* The index-th tile of all groups, or one of no group. */
__device__ tile find(const problem &p, int index)
{
    for (int i = 0; i < p.count; i++) {
        const group &g = p.groups[i];
        int wide = ceil_div(g.n, tile_n);
        int tiles = ceil_div(g.m, tile_m) * wide;

        if (index < tiles)
            return {&g, index / wide * tile_m, index % wide * tile_n};
        index -= tiles;
    }
    return {nullptr, 0, 0};
}

__device__ void edit_map(tensor_map *map, const u8 *address, int rows, int k)
{
    ptx::tensormap_replace_global_address(map, address);
    ptx::tensormap_replace_global_dim<0>(map, u32(k / 2));
    ptx::tensormap_replace_global_dim<1>(map, u32(rows));
    ptx::tensormap_replace_global_stride<0>(map, u64(k / 2));
}

__device__ void edit_maps(tensor_map *maps, const group &g)
{
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read<0>();
    edit_map(maps, g.a, g.m, g.k);
    edit_map(maps + 1, g.b, g.n, g.k);
    ptx::fence_proxy_tensormap_release();
    ptx::fence_proxy_tensormap_acquire(maps);
    ptx::fence_proxy_tensormap_acquire(maps + 1);
}

__device__ void load(smem &shared, const stage_ring &ring, const tile &t,
                     const tensor_map *maps, int k)
{
    ptx::mbarrier *full = &ring.shared.full[ring.slot];
    int atoms = ceil_div(t.g->k, mma::product_k);
    u32 scale_bytes = u32(min(products, atoms - k / mma::product_k)) *
                      mma::scale_atom_bytes;

    ptx::mbarrier_arrive_expect_tx(full, 2 * operand_bytes + 2 * scale_bytes);
    ptx::cp_async_bulk_tensor_2d(shared.a[ring.slot], maps, k / 2, t.row,
                                 full);
    ptx::cp_async_bulk_tensor_2d(shared.b[ring.slot], maps + 1, k / 2,
                                 t.column, full);
    ptx::cp_async_bulk(shared.sfa[ring.slot],
                       t.g->sfa + mma::scale_offset(t.row, k / 16, atoms),
                       scale_bytes, full);
    ptx::cp_async_bulk(shared.sfb[ring.slot],
                       t.g->sfb + mma::scale_offset(t.column, k / 16, atoms),
                       scale_bytes, full);
}

__device__ void copying(smem &shared, const problem &p,
                        const tensor_map &prototype)
{
    tensor_map *maps = p.maps + 2 * blockIdx.x;
    stage_ring ring{shared.stage};
    const group *last = nullptr;

    maps[0] = prototype;
    maps[1] = prototype;
    for (int i = blockIdx.x;; i += gridDim.x) {
        tile t = find(p, i);
        if (!t.g)
            return;
        if (t.g != last)
            edit_maps(maps, *t.g);
        last = t.g;
        for (int k = 0; k < t.g->k; k += tile_k) {
            ring.wait_empty();
            load(shared, ring, t, maps, k);
            ring.next();
        }
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

        ptx::tcgen05_cp_32x128b_warpx4(to, sfa + atom);
        ptx::tcgen05_cp_32x128b_warpx4(to + 16, sfb + atom);
        ptx::tcgen05_mma_mxf4nvf4(d, a + step, b + step,
                                  mma::product_instruction(tile_m, tile_n), to,
                                  to + 16, !first || i > 0);
    }
}

__device__ void multiplying(smem &shared, const problem &p)
{
    stage_ring ring{shared.stage};
    accumulator_ring out{shared.accumulator};
    u32 base = shared.tensor_memory;

    for (int i = blockIdx.x;; i += gridDim.x) {
        tile t = find(p, i);
        if (!t.g)
            return;
        out.wait_empty();
        ptx::tcgen05_fence_after_thread_sync(); /* accumulator */
        for (int k = 0; k < t.g->k; k += tile_k) {
            ring.wait_full();
            ptx::tcgen05_fence_after_thread_sync(); /* scales */
            multiply(shared, ring.slot, base + u32(out.slot * tile_n), base,
                     t.g->k - k, k == 0);
            ptx::tcgen05_commit(&shared.stage.empty[ring.slot]);
            ring.next();
        }
        ptx::tcgen05_commit(&shared.accumulator.full[out.slot]);
        out.next();
    }
}

__device__ void epilogue(smem &shared, const problem &p)
{
    accumulator_ring in{shared.accumulator};
    int warp = threadIdx.x / 32 % 4;

    for (int i = blockIdx.x;; i += gridDim.x) {
        tile t = find(p, i);
        if (!t.g)
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
        ptx::mbarrier_arrive(&shared.accumulator.empty[in.slot]);
        in.next();
        int row = t.row + int(threadIdx.x);
        for (int j = 0; j < tile_n && row < t.g->m; j++)
            if (t.column + j < t.g->n)
                t.g->c[size_t(row) * t.g->n + t.column + j] =
                    d[j / 32][j % 32];
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
        ptx::mbarrier_init(&shared.accumulator.empty[i], 128);
    }
    ptx::fence_mbarrier_init();
}

extern "C" __global__ __launch_bounds__(192) void
tcgen05_pipeline(const problem p, const __grid_constant__ tensor_map prototype)
{
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    smem &shared = *reinterpret_cast<smem *>(memory);
    int warp = threadIdx.x / 32;

    if (warp == 4) {
        ptx::tcgen05_alloc(&shared.tensor_memory, columns);
        ptx::tcgen05_relinquish_alloc_permit();
    }
    if (threadIdx.x == 0)
        initialize(shared);
    ptx::tcgen05_fence_before_thread_sync(); /* allocation */
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync(); /* allocation */

    if (warp < 4)
        epilogue(shared, p);
    else if (warp == 4 && ptx::elect_one())
        multiplying(shared, p);
    else if (warp == 5 && ptx::elect_one())
        copying(shared, p, prototype);

    ptx::tcgen05_fence_before_thread_sync(); /* end */
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync(); /* end */
    if (warp == 4)
        ptx::tcgen05_dealloc(shared.tensor_memory, columns);
}
