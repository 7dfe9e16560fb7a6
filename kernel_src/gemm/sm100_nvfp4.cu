/* SPDX-License-Identifier: MIT */
/* C = alpha * A * B^T for all groups on Blackwell, whose tensor cores multiply
 * the operands and their scales as they lie in memory. The lanes of a product
 * are 128 tokens and its columns weight rows or, with spec::swapped, the other
 * way round, for few tokens. Persistent blocks of six warps:
 *   0 to 3  epilogue: accumulators from tensor memory to C
 *   4       products
 *   5       copies, and the tensor maps they need
 *
 * barrier            count      arrives         waits
 * stage.full         1 + bytes  copying thread  product warp
 * stage.empty        1          commit          copying thread
 * accumulator.full   1          commit          epilogue
 * accumulator.empty  128        epilogue        product warp
 *
 * With spec::ctas 2 a pair of blocks shares products of 256 lanes, half of
 * them each: for less copying, each brings half of the columns. Block 0 issues
 * all products; its stage.full counts the copies of both, its
 * accumulator.empty both epilogues, and commits arrive in both blocks.
 *
 * Tensor memory: spec::accumulators tiles, then the scales of each stage. They
 * are not shared between stages, since only a stage's barriers say when
 * products have read them. */
#include <base/group.h>
#include <base/types.cuh>
#include <epilogue/store_tensor.cuh>
#include <mma/tcgen05_tile.cuh>
#include <pipeline/ring.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>
#include <ptx/tensormap.cuh>
#include <ptx/tma.cuh>
#include <sched/tiles.cuh>
#include <spec.cuh>

constexpr int lanes = 128;
constexpr int tile_k = 256; /* of a stage */
constexpr int products = tile_k / mma::product_k;
constexpr int tile_n = spec::swapped ? spec::ctas * lanes : spec::columns;
constexpr int own_columns = spec::columns / spec::ctas; /* that are copied */

/* Rows of an atom of scales; the columns of a tile may be in two. */
constexpr int atom_rows = mma::scale_atom_rows;
constexpr int atoms = ceil_div(spec::columns, atom_rows);
constexpr int scale_columns = (1 + atoms) * products * mma::scale_atom_columns;

/* Columns are multiplied as many at a time as the epilogue reads. */
constexpr int width_step =
    spec::swapped ? epilogue::pass_tokens : epilogue::pass_weights;

/* Tensor maps of a group: activations, weights and, for pairs, the scales of
 * each, which are copied eight bytes at a time. */
constexpr int map_bytes = 128;
constexpr int maps_bytes = 2 * spec::ctas * map_bytes;
constexpr int scale_bytes = products * mma::scale_atom_bytes; /* a stage */
constexpr int scale_elements = scale_bytes / 8;

constexpr u32 staging_barrier = 1;

struct smem { /* 1024-byte aligned: the atoms of the swizzle are */
    u8 lane_values[spec::stages][lanes * mma::operand_row_bytes];
    u8 column_values[spec::stages][own_columns * mma::operand_row_bytes];
    u8 lane_scales[spec::stages][1][products][mma::scale_atom_bytes];
    u8 column_scales[spec::stages][atoms][products][mma::scale_atom_bytes];
    u8 staging[spec::swapped ? epilogue::columns_staging_bytes<spec::output>
                             : 16];
    pipeline::barriers<spec::stages> stage;
    pipeline::barriers<spec::accumulators> accumulator;
    u32 tensor_memory;
};
static_assert(sizeof(smem) + 1024 <= spec::smem_bytes);
static_assert(spec::ctas == 1 || !spec::edits_maps);
static_assert(spec::accumulators * spec::columns +
                  spec::stages * scale_columns <= spec::tensor_columns);

using stages = pipeline::ring<spec::stages>;
using accumulators = pipeline::ring<spec::accumulators>;

/* The block's number in its pair. */
__device__ int rank()
{
    return spec::ctas > 1 ? int(ptx::cluster_ctarank()) : 0;
}

/* ---- Tiles ------------------------------------------------------------ */

/* The tiles of a block or pair. Editing tensor maps takes time, so a block
 * that has to takes neighbours. */
struct tiles {
    const jg_table &table;
    sched::turns<spec::ctas> turn;
    sched::run run{table.tiles, int(blockIdx.x), int(gridDim.x)};

    __device__ explicit tiles(const jg_table &t) : table(t)
    {
    }
    __device__ bool more() const
    {
        return spec::edits_maps ? run.i < run.end : turn.i < table.tiles;
    }
    __device__ void next()
    {
        if (spec::edits_maps)
            run.i++;
        else
            turn.next();
    }
    __device__ sched::tile get() const
    {
        int i = spec::edits_maps ? run.i : turn.i;
        return sched::cut_tile<tile_n>(
            table,
            sched::find_group_among_few(table.first_tile, table.count, i), i);
    }
};

/* What a tile needs of an operand. */
struct part {
    const u8 *map, *scales; /* a pair's map of scales is two further */
    int first, rows; /* of all `rows`, the tile begins at `first` */
};

__device__ part lanes_of(const sched::tile &tile, const u8 *maps)
{
    const jg_group &group = *tile.group;
    int own = rank() * lanes;
    if (spec::swapped)
        return {maps + map_bytes, group.sfb, tile.column + own, group.n};
    return {maps, group.sfa, tile.row + own, group.m};
}

__device__ part columns_of(const sched::tile &tile, const u8 *maps)
{
    const jg_group &group = *tile.group;
    if (spec::swapped)
        return {maps, group.sfa, tile.row, group.m};
    return {maps + map_bytes, group.sfb, tile.column, group.n};
}

/* Columns of the tile's products. */
__device__ int width_of(const part &columns)
{
    int width = min(spec::columns, columns.rows - columns.first);
    return ceil_div(width, width_step) * width_step;
}

/* ---- Copies ----------------------------------------------------------- */

/* The scales of a stage: `bytes` of each atom of rows from `first`. Rows past
 * the last have none, and need none; some are copied to copy equally many. */
template <int count>
__device__ void load_scales(u8 (&to)[count][products][mma::scale_atom_bytes],
                            const part &part, int stage, int k_atoms,
                            u32 bytes, ptx::mbarrier *full)
{
#pragma unroll
    for (int i = 0; i < count; i++) {
        int atom = min(part.first / atom_rows + i,
                       (part.rows - 1) / atom_rows);
        ptx::cp_async_bulk(to[i],
                           part.scales +
                               (size_t(atom) * k_atoms + stage * products) *
                                   mma::scale_atom_bytes,
                           bytes, full);
    }
}

__device__ void load_stage(smem &shared, const stages &ring,
                           const sched::tile &tile, const u8 *maps, int stage)
{
    ptx::mbarrier *full = &ring.shared.full[ring.slot];
    part lanes = lanes_of(tile, maps), columns = columns_of(tile, maps);
    int k_atoms = ceil_div(tile.group->k, mma::product_k);
    u32 bytes = min(products, k_atoms - stage * products) *
                mma::scale_atom_bytes;

    ptx::mbarrier_arrive_expect_tx(full, sizeof shared.lane_values[0] +
                                             sizeof shared.column_values[0] +
                                             (1 + atoms) * bytes);
    ptx::cp_async_bulk_tensor_2d(shared.lane_values[ring.slot], lanes.map,
                                 stage * mma::operand_row_bytes, lanes.first,
                                 full);
    ptx::cp_async_bulk_tensor_2d(shared.column_values[ring.slot], columns.map,
                                 stage * mma::operand_row_bytes,
                                 columns.first, full);
    load_scales(shared.lane_scales[ring.slot], lanes, stage, k_atoms, bytes,
                full);
    load_scales(shared.column_scales[ring.slot], columns, stage, k_atoms,
                bytes, full);
}

/* The same by a pair. Scales are rows of a matrix to its maps, since only
 * copies with a map can be counted in the other block. */
__device__ void load_stage_pair(smem &shared, const stages &ring,
                                const sched::tile &tile, const u8 *maps,
                                int stage)
{
    ptx::mbarrier *full = &ring.shared.full[ring.slot];
    part lanes = lanes_of(tile, maps), columns = columns_of(tile, maps);
    int x = stage * mma::operand_row_bytes, scales_x = stage * scale_elements;
    int half = rank() * (width_of(columns) / 2);

    if (rank() == 0)
        ptx::mbarrier_arrive_expect_tx(
            full, 2 * (sizeof shared.lane_values[0] +
                       sizeof shared.column_values[0] +
                       (1 + atoms) * scale_bytes));
    ptx::cp_async_bulk_tensor_2d_pair(shared.lane_values[ring.slot], lanes.map,
                                      x, lanes.first, full);
    ptx::cp_async_bulk_tensor_2d_pair(shared.column_values[ring.slot],
                                      columns.map, x, columns.first + half,
                                      full);
    ptx::cp_async_bulk_tensor_2d_pair(shared.lane_scales[ring.slot],
                                      lanes.map + 2 * map_bytes, scales_x,
                                      lanes.first / atom_rows, full);
#pragma unroll
    for (int i = 0; i < atoms; i++)
        ptx::cp_async_bulk_tensor_2d_pair(shared.column_scales[ring.slot][i],
                                          columns.map + 2 * map_bytes,
                                          scales_x,
                                          columns.first / atom_rows + i, full);
}

/* The block's own maps: copies of table.maps, made to fit each group. Earlier
 * copies must have landed, since they read the maps. */
__device__ void edit_map(u8 *map, const u8 *address, int rows, int k)
{
    ptx::tensormap_replace_global_address(map, address);
    ptx::tensormap_replace_global_dim<0>(map, u32(k / 2));
    ptx::tensormap_replace_global_dim<1>(map, u32(rows));
    ptx::tensormap_replace_global_stride<0>(map, u64(k / 2));
}

__device__ void edit_maps(u8 *maps, const jg_group &group)
{
    edit_map(maps, group.a, group.m, group.k);
    edit_map(maps + map_bytes, group.b, group.n, group.k);
    ptx::fence_proxy_tensormap_release();
}

__device__ void copy_all(smem &shared, const jg_table &table)
{
    stages ring{shared.stage};
    u8 *own = table.workspace + blockIdx.x * maps_bytes;
    const jg_group *group = nullptr;
    const u8 *maps = own;

    for (int i = 0; spec::edits_maps && i < maps_bytes; i += 16)
        *reinterpret_cast<uint4 *>(own + i) =
            *reinterpret_cast<const uint4 *>(table.maps + i);
    for (tiles tiles(table); tiles.more(); tiles.next()) {
        sched::tile tile = tiles.get();
        if (tile.group != group) {
            group = tile.group;
            if (spec::edits_maps) {
                ring.wait_all_full();
                edit_maps(own, *group);
            } else {
                maps = table.maps + (group - table.groups) * maps_bytes;
            }
            for (int i = 0; i < maps_bytes; i += map_bytes)
                ptx::fence_proxy_tensormap_acquire(maps + i);
        }
        for (int stage = 0; stage * tile_k < group->k; stage++) {
            ring.wait_empty();
            if constexpr (spec::ctas > 1)
                load_stage_pair(shared, ring, tile, maps, stage);
            else
                load_stage(shared, ring, tile, maps, stage);
            ring.next();
        }
    }
    /* Until its slots are empty, the other block's commits arrive here. */
    for (int i = 0; spec::ctas > 1 && i < spec::stages; i++, ring.next())
        ring.wait_empty();
}

/* ---- Products --------------------------------------------------------- */

/* In both blocks of a pair. */
__device__ void commit(ptx::mbarrier *barrier)
{
    if constexpr (spec::ctas > 1)
        ptx::tcgen05_commit_multicast<spec::ctas>(barrier, 3);
    else
        ptx::tcgen05_commit(barrier);
}

/* The last 32 k of an odd number: the operands' other 32 come as zeros, but
 * the atom's other two scales of each row may be NaN. By a warp. */
__device__ void clear_scales(u8 (&atom)[mma::scale_atom_bytes])
{
    uint4 &rows = reinterpret_cast<uint4 *>(atom)[threadIdx.x % 32];
    rows.x &= 0xffff;
    rows.y &= 0xffff;
    rows.z &= 0xffff;
    rows.w &= 0xffff;
}

__device__ void clear_tail(smem &shared, int slot, int last)
{
    clear_scales(shared.lane_scales[slot][0][last]);
    for (int i = 0; i < atoms; i++)
        clear_scales(shared.column_scales[slot][i][last]);
    ptx::fence_proxy_async();
}

/* A stage, by one thread. `scales` is where its own are in tensor memory, and
 * `skipped` how many of an atom's columns the tile begins after. */
__device__ void multiply(smem &shared, int slot, u32 accumulator, u32 scales,
                         int skipped, u32 instruction, int count, bool first)
{
    u64 a = mma::operand_descriptor(ptx::shared_address(shared.lane_values[slot]));
    u64 b = mma::operand_descriptor(ptx::shared_address(shared.column_values[slot]));
    u64 sfa = mma::scale_descriptor(
        ptx::shared_address(shared.lane_scales[slot]));
    u64 sfb = mma::scale_descriptor(
        ptx::shared_address(shared.column_scales[slot]));
    constexpr int wide = mma::scale_atom_columns;

    for (int i = 0; i < count; i++) {
        u32 lane_scales = scales + i * wide;
        u32 column_scales = scales + (products + i * atoms) * wide;
        u64 step = mma::descriptor_step(i * mma::product_bytes);

        ptx::tcgen05_cp_32x128b_warpx4<spec::ctas>(
            lane_scales, sfa + mma::descriptor_step(i * mma::scale_atom_bytes));
#pragma unroll
        for (int j = 0; j < atoms; j++)
            ptx::tcgen05_cp_32x128b_warpx4<spec::ctas>(
                column_scales + j * wide,
                sfb + mma::descriptor_step((j * products + i) *
                                           mma::scale_atom_bytes));
        ptx::tcgen05_mma_mxf4nvf4<spec::ctas>(
            accumulator, a + step, b + step, instruction, lane_scales,
            column_scales + skipped, !first || i > 0);
    }
}

__device__ void multiply_all(smem &shared, const jg_table &table)
{
    stages ring{shared.stage};
    accumulators out{shared.accumulator};
    u32 base = shared.tensor_memory;
    u32 all_scales = base + spec::accumulators * spec::columns;
    bool issues = ptx::elect_one();

    for (tiles tiles(table); tiles.more(); tiles.next(), out.next()) {
        sched::tile tile = tiles.get();
        part columns = columns_of(tile, nullptr);
        int k = tile.group->k;
        u32 instruction = mma::product_instruction(spec::ctas * lanes,
                                                   width_of(columns));
        int skipped = columns.first % atom_rows / 32;

        out.wait_empty();
        for (int stage = 0; stage * tile_k < k; stage++, ring.next()) {
            int left = k - stage * tile_k;
            int count = min(products, ceil_div(left, mma::product_k));
            ring.wait_full();
            if (spec::ctas == 1 && left < tile_k && left % mma::product_k)
                clear_tail(shared, ring.slot, count - 1);
            __syncwarp(); /* no lane may fall behind the barriers */
            ptx::tcgen05_fence_after_thread_sync();
            if (issues) {
                multiply(shared, ring.slot, base + out.slot * spec::columns,
                         all_scales + ring.slot * scale_columns, skipped,
                         instruction, count, stage == 0);
                commit(&shared.stage.empty[ring.slot]);
            }
        }
        if (issues)
            commit(&shared.accumulator.full[out.slot]);
    }
}

/* ---- Epilogue --------------------------------------------------------- */

__device__ void store_all(smem &shared, const jg_table &table)
{
    accumulators in{shared.accumulator};
    int own = rank() * lanes;
    int row = spec::swapped ? 0 : own, column = spec::swapped ? own : 0;

    for (tiles tiles(table); tiles.more(); tiles.next(), in.next()) {
        sched::tile tile = tiles.get();
        const jg_group &group = *tile.group;
        float alpha = group.alpha ? *group.alpha : 1.0f;
        u32 accumulator = shared.tensor_memory + in.slot * spec::columns;
        epilogue::tensor_destination to = {
            reinterpret_cast<u8 *>(group.c) +
                (size_t(tile.row + row) * group.n + tile.column + column) *
                    epilogue::element_bytes<spec::output>,
            group.n, tile.rows - row,
            min(tile_n, group.n - tile.column) - column};
        auto done = [&] {
            ptx::tcgen05_fence_before_thread_sync();
            if constexpr (spec::ctas > 1)
                ptx::mbarrier_arrive_cluster(
                    &shared.accumulator.empty[in.slot], 0);
            else
                ptx::mbarrier_arrive(&shared.accumulator.empty[in.slot]);
        };

        in.wait_full();
        ptx::tcgen05_fence_after_thread_sync();
        if constexpr (spec::swapped)
            epilogue::store_columns<spec::output>(accumulator, alpha, to,
                                                  shared.staging,
                                                  staging_barrier, done);
        else
            epilogue::store_rows<spec::output>(accumulator, alpha, to, done);
    }
}

/* ---- The kernel ------------------------------------------------------- */

__device__ void initialize(smem &shared)
{
    for (int i = 0; i < spec::stages; i++) {
        ptx::mbarrier_init(&shared.stage.full[i], 1);
        ptx::mbarrier_init(&shared.stage.empty[i], 1);
    }
    for (int i = 0; i < spec::accumulators; i++) {
        ptx::mbarrier_init(&shared.accumulator.full[i], 1);
        ptx::mbarrier_init(&shared.accumulator.empty[i],
                           spec::ctas * epilogue::tensor_lanes);
    }
    ptx::fence_mbarrier_init();
}

/* All threads of the block or pair, also in what they do in tensor memory. */
__device__ void synchronize()
{
    ptx::tcgen05_fence_before_thread_sync();
    if constexpr (spec::ctas > 1) {
        ptx::barrier_cluster_arrive();
        ptx::barrier_cluster_wait();
    } else {
        __syncthreads();
    }
    ptx::tcgen05_fence_after_thread_sync();
}

extern "C" __global__ __launch_bounds__(spec::threads) void
sm100_nvfp4(const jg_table table)
{
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    smem &shared = *reinterpret_cast<smem *>(memory);
    int warp = threadIdx.x / 32;

    if (threadIdx.x == 0)
        initialize(shared);
    if constexpr (spec::ctas > 1)
        synchronize(); /* a pair allocates together */
    if (warp == 4) {
        ptx::tcgen05_alloc<spec::ctas>(&shared.tensor_memory,
                                       spec::tensor_columns);
        ptx::tcgen05_relinquish_alloc_permit<spec::ctas>();
    }
    synchronize();

    if (warp < 4)
        store_all(shared, table);
    else if (warp == 4 && rank() == 0)
        multiply_all(shared, table);
    else if (warp == 5 && ptx::elect_one())
        copy_all(shared, table);

    synchronize();
    if (warp == 4)
        ptx::tcgen05_dealloc<spec::ctas>(shared.tensor_memory,
                                         spec::tensor_columns);
}
