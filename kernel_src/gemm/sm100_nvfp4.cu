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
#include <mma/scaled_slot.cuh>
#include <pipeline/ring.cuh>
#include <pipeline/tensor_maps.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>
#include <ptx/tma.cuh>
#include <sched/table.cuh>
#include <sched/tiles.cuh>
#include <spec.cuh>

constexpr int lanes = mma::slot_lanes;
constexpr int tile_n = spec::swapped ? spec::ctas * lanes : spec::columns;

/* Columns are multiplied as many at a time as the epilogue reads. */
constexpr int width_step =
    spec::swapped ? epilogue::pass_tokens : epilogue::pass_weights;

/* Of a group: activations, weights and, for pairs, the scales of each. */
constexpr int map_bytes = pipeline::map_bytes;
constexpr int maps_bytes = 2 * spec::ctas * map_bytes;

constexpr u32 staging_barrier = 1;

using slot = mma::scaled_slot<spec::columns, spec::ctas>;

struct smem { /* 1024-byte aligned */
    slot slots[spec::stages];
    u8 staging[spec::swapped
                   ? epilogue::columns_staging_bytes<spec::output,
                                                     spec::accumulate>
                   : 16];
    pipeline::barriers<spec::stages> stage;
    pipeline::barriers<spec::accumulators> accumulator;
    u32 tensor_memory;
};
static_assert(sizeof(slot) % 1024 == 0);
static_assert(sizeof(smem) + 1024 <= spec::smem_bytes);
static_assert(spec::ctas == 1 || !spec::edits_maps);

constexpr int scales_column = spec::accumulators * spec::columns;
static_assert(scales_column + spec::stages * slot::scale_columns <=
              spec::tensor_columns);

using stages = pipeline::ring<spec::stages>;
using accumulators = pipeline::ring<spec::accumulators>;
using walk = sched::walk<tile_n, spec::ctas, spec::edits_maps>;

/* The block's number in its pair. */
__device__ int rank()
{
    return spec::ctas > 1 ? int(ptx::cluster_ctarank()) : 0;
}

/* The operands of a tile; `maps` are its group's. */
__device__ mma::operand_part activations(const sched::tile &tile,
                                         const u8 *maps)
{
    const jg_group &group = *tile.group;
    return {maps, group.sfa, maps + 2 * map_bytes, tile.row, group.m};
}

__device__ mma::operand_part weights(const sched::tile &tile, const u8 *maps)
{
    const jg_group &group = *tile.group;
    return {maps + map_bytes, group.sfb, maps + 3 * map_bytes, tile.column,
            group.n};
}

__device__ mma::operand_part lanes_of(const sched::tile &tile, const u8 *maps)
{
    auto part = spec::swapped ? weights(tile, maps) : activations(tile, maps);
    part.first += rank() * lanes;
    return part;
}

__device__ mma::operand_part columns_of(const sched::tile &tile,
                                        const u8 *maps)
{
    return spec::swapped ? activations(tile, maps) : weights(tile, maps);
}

__device__ int width_of(const mma::operand_part &columns)
{
    int width = min(spec::columns, columns.rows - columns.first);
    return ceil_div(width, width_step) * width_step;
}

/* The maps of the group, which a block with maps of its own edits. */
__device__ const u8 *maps_of(const jg_table &table, const jg_group *group,
                             stages &ring)
{
    const u8 *maps = table.maps + (group - table.groups) * maps_bytes;

    if constexpr (spec::edits_maps) {
        u8 *own = table.workspace + blockIdx.x * maps_bytes;
        ring.wait_all_full();
        pipeline::edit_maps<spec::strided>(own, *group);
        maps = own;
    }
    for (int i = 0; i < maps_bytes; i += map_bytes)
        ptx::fence_proxy_tensormap_acquire(maps + i);
    return maps;
}

__device__ void copy_all(smem &shared, const jg_table &table)
{
    stages ring{shared.stage};
    const jg_group *group = nullptr;
    const u8 *maps = nullptr;

    if (spec::edits_maps)
        pipeline::copy_maps(table.workspace + blockIdx.x * maps_bytes,
                            table.maps);
    for (walk walk(table); walk.more(); walk.next()) {
        sched::tile tile = walk.get();
        if (tile.group != group) {
            group = tile.group;
            maps = maps_of(table, group, ring);
        }
        auto lanes = lanes_of(tile, maps), columns = columns_of(tile, maps);
        for (int stage = 0; stage * mma::slot_k < group->k; stage++) {
            slot &to = shared.slots[ring.slot];
            ptx::mbarrier *full = &ring.shared.full[ring.slot];
            ring.wait_empty();
            if constexpr (spec::ctas > 1)
                to.load_pair(lanes, columns, width_of(columns), stage, rank(),
                             full);
            else
                to.load(lanes, columns, group->k, stage, full);
            ring.next();
        }
    }
    ptx::griddepcontrol_launch_dependents();
    /* Until its slots are empty, the other block's commits arrive here. */
    for (int i = 0; spec::ctas > 1 && i < spec::stages; i++, ring.next())
        ring.wait_empty();
}

/* In both blocks of a pair. */
__device__ void commit(ptx::mbarrier *barrier)
{
    if constexpr (spec::ctas > 1)
        ptx::tcgen05_commit_multicast<spec::ctas>(barrier, 3);
    else
        ptx::tcgen05_commit(barrier);
}

__device__ void multiply_all(smem &shared, const jg_table &table)
{
    stages ring{shared.stage};
    accumulators out{shared.accumulator};
    u32 base = shared.tensor_memory;
    bool issues = ptx::elect_one();

    for (walk walk(table); walk.more(); walk.next(), out.next()) {
        sched::tile tile = walk.get();
        auto columns = columns_of(tile, nullptr);
        u32 instruction = mma::product_instruction(spec::ctas * lanes,
                                                   width_of(columns));
        mma::product_place to = {base + out.slot * spec::columns, 0,
                                 columns.first % mma::scale_atom_rows / 32};

        out.wait_empty();
        for (int k = 0; k < tile.group->k; k += mma::slot_k, ring.next()) {
            int left = min(mma::slot_k, tile.group->k - k);
            int count = ceil_div(left, mma::product_k);
            slot &from = shared.slots[ring.slot];

            to.scales = base + scales_column + ring.slot * slot::scale_columns;
            ring.wait_full();
            if (spec::ctas == 1 && left % mma::product_k)
                from.clear_tail(count - 1);
            __syncwarp(); /* no lane may fall behind the barriers */
            ptx::tcgen05_fence_after_thread_sync();
            if (issues) {
                from.multiply(to, instruction, count, k == 0);
                commit(&shared.stage.empty[ring.slot]);
            }
        }
        if (issues)
            commit(&shared.accumulator.full[out.slot]);
    }
}

/* To where the products are issued. */
__device__ void release(ptx::mbarrier *accumulator_empty)
{
    ptx::tcgen05_fence_before_thread_sync();
    if constexpr (spec::ctas > 1)
        ptx::mbarrier_arrive_cluster(accumulator_empty, 0);
    else
        ptx::mbarrier_arrive(accumulator_empty);
}

__device__ void store_all(smem &shared, const jg_table &table)
{
    accumulators in{shared.accumulator};
    int own = rank() * lanes;
    int row = spec::swapped ? 0 : own, column = spec::swapped ? own : 0;

    for (walk walk(table); walk.more(); walk.next(), in.next()) {
        sched::tile tile = walk.get();
        const jg_group &group = *tile.group;
        float alpha = group.alpha ? *group.alpha : 1.0f;
        constexpr int bytes = epilogue::element_bytes<spec::output>;
        int first = tile.column + column;
        int ld = epilogue::row_elements<spec::output, spec::strided>(group);
        u32 accumulator = shared.tensor_memory + in.slot * spec::columns;
        epilogue::tensor_destination to = {
            reinterpret_cast<u8 *>(group.c) +
                (size_t(tile.row + row) * ld + first) * bytes,
            ld, tile.rows - row,
            min(tile_n, group.n - tile.column) - column,
            group.bias ? group.bias + size_t(first) * bytes : nullptr};
        auto done = [&] { release(&shared.accumulator.empty[in.slot]); };

        in.wait_full();
        ptx::tcgen05_fence_after_thread_sync();
        if constexpr (spec::swapped)
            epilogue::store_columns<spec::output, spec::accumulate>(
                accumulator, alpha, to, shared.staging, staging_barrier, done);
        else
            epilogue::store_rows<spec::output, spec::accumulate>(
                accumulator, alpha, to, done);
    }
}

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

extern "C" __global__ __launch_bounds__(spec::threads, 1) void
sm100_nvfp4(const jg_table given)
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
    const jg_table table = sched::awaited(given);

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
