/* SPDX-License-Identifier: MIT */
/* C = alpha * A * B^T for all groups on Hopper, as C^T = B * A^T: weight rows
 * are wgmma's M, tokens its N. Persistent blocks of two, three or five
 * warpgroups:
 *   0     a thread of warp 0 copies weights and their scales. One of warp 1
 *         copies the activations that gemm/sm90_activations.cu has decoded;
 *         or, with spec::fused, warps 1 to 3 decode them on the way, a stage
 *         each in turn. Those of 16 bits are only put in order
 *   1...  decode 64 weight rows each into registers, multiply them with the
 *         activations, store
 * With spec::split a cluster has one tile, each block a part of its k; the
 * first adds up the sums of all, in their order.
 *
 * barrier  count                   arrives                         waits
 * full     2 + bytes of the slot,  both copying threads, copies,   1...
 *          fused: 1 + 32 + bytes   fused: the decoding warp
 * empty    threads of 1...         1...                            0
 * cluster  all, twice              begun; parts stored           before; 1...
 */
#include <base/group.h>
#include <base/types.cuh>
#include <epilogue/store_registers.cuh>
#include <gemm/sm90_groups.cuh>
#include <mma/activations.cuh>
#include <mma/weights.cuh>
#include <mma/wgmma_tile.cuh>
#include <pipeline/ring.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tma.cuh>
#include <ptx/wgmma.cuh>
#include <sched/tiles.cuh>
#include <spec.cuh>

constexpr int warpgroup = 128;
constexpr int consumers = spec::tile_n / 64; /* warpgroups */
constexpr int chunks = spec::tile_k / mma::chunk_k; /* a stage */
constexpr int weight_row_bytes = spec::tile_k / 2;  /* a stage */

/* What is multiplied: f16 unless the activations are bf16. */
constexpr int type = spec::input == JG_IN_BF16 ? JG_BF16 : JG_F16;
constexpr bool nvfp4 = spec::input == JG_IN_NVFP4; /* both are decoded */
using decoder = mma::weights_to<spec::weights, type>;
constexpr float decoded = decoder::shortfall;
constexpr float shortfall = nvfp4 ? decoded * decoded : decoded;

constexpr int scale_k = /* that share a scale of a weight */
    mma::span_k / sizeof(decoder::span_scales);
constexpr int scale_atoms = spec::tile_k / (4 * scale_k); /* a stage */

constexpr int chunk_bytes = spec::tile_m * 128; /* of activations */
constexpr int scale_rows = 128; /* an atom of scales */
constexpr int scale_strips = (spec::tile_n + scale_rows - 1) / scale_rows;
constexpr bool half_atoms = spec::tile_n < scale_rows;

/* Chunks multiplied at once; two buffers of weights alternate. More warps have
 * fewer registers each. */
constexpr int batch =
    consumers > 2 || (spec::blocks > 1 && spec::width_step < spec::tile_m)
        ? 1
        : chunks / 2;

static_assert(spec::threads == (1 + consumers) * warpgroup);
static_assert(half_atoms ? spec::tile_n == scale_rows / 2
                         : spec::tile_n % scale_rows == 0);
static_assert(chunks % (2 * batch) == 0);

/* Accumulators that the first block of a cluster gets, a thread's. */
constexpr int sums_rows =
    spec::split > 1 ? (spec::split - 1) * consumers * spec::tile_m / 2 : 1;

struct smem { /* 1024-byte aligned: the atoms of the swizzles are */
    u8 activations[spec::stages][chunks][chunk_bytes];
    u8 weights[spec::stages][spec::tile_n * weight_row_bytes];
    u8 scales[spec::stages][scale_strips][scale_atoms][mma::scale_atom_bytes];
    u8 staging[consumers][epilogue::staging_bytes];
    float sums[sums_rows][warpgroup]; /* of the other blocks */
    pipeline::barriers<spec::stages> barriers;
};
using groups = gemm::groups_from<spec::own_table, spec::strided, spec::fused,
                                 spec::threads>;
static_assert(sizeof(smem) + groups::shared_bytes + 1024 == spec::smem_bytes);

using ring = pipeline::ring<spec::stages>;
using activation_row = mma::activation_row<nvfp4>;
using weight_reader = mma::weight_reader<decoder, chunks>;
using turns = sched::turns<spec::split>;
using tile = groups::tile;

/* The stages of a tile's k that are this block's. */
struct range {
    int first, end;

    __device__ explicit range(const jg_group &group)
    {
        int all = group.chunks / chunks;
        int part = int(blockIdx.x) % spec::split;
        first = all * part / spec::split;
        end = all * (part + 1) / spec::split;
    }
};

/* A tile's scales of weights, from a stage on. A group's fields are read once,
 * with those that the tile was found by, before the map's fence waits. */
struct weight_scales {
    const u8 *strips[scale_strips];
    int atoms; /* left of each strip */

    __device__ weight_scales(const jg_group &group, int column, int stage)
    {
        int all = ceil_div(group.k, 4 * scale_k);
        int last = (group.n - 1) / scale_rows;
#pragma unroll
        for (int i = 0; i < scale_strips; i++) {
            int strip = min(column / scale_rows + i, last); /* past n: any */
            size_t first = size_t(strip) * all + stage * scale_atoms;
            strips[i] = group.sfb + first * mma::scale_atom_bytes;
        }
        atoms = all - stage * scale_atoms;
    }
};

/* A stage of a tile's weights, and the next of their scales. */
__device__ inline void load_weights(smem &shared, int slot,
                                    const groups &table, const tile &tile,
                                    int stage, weight_scales &scales)
{
    ptx::mbarrier *full = &shared.barriers.full[slot];
    u32 bytes = min(scale_atoms, scales.atoms) * mma::scale_atom_bytes;

    ptx::mbarrier_arrive_expect_tx(full, sizeof shared.weights[0] +
                                             scale_strips * bytes);
    table.copy_weights(shared.weights[slot], tile, stage * weight_row_bytes,
                       full);
#pragma unroll
    for (int i = 0; i < scale_strips; i++) {
        ptx::cp_async_bulk(shared.scales[slot][i], scales.strips[i], bytes,
                           full);
        scales.strips[i] += scale_atoms * mma::scale_atom_bytes;
    }
    scales.atoms -= scale_atoms;
}

__device__ void copy_weights(smem &shared, const groups &table)
{
    ring ring{shared.barriers};
    groups::handle last = groups::none;

    for (turns turn; turn.i < table.tiles(); turn.next()) {
        tile tile = table.find_tile<spec::tile_n>(turn.i);
        const jg_group &group = table.of(tile.group);
        range range(group);
        weight_scales scales(group, tile.column, range.first);
        if (tile.group != last) {
            last = tile.group;
            table.acquire_map(last);
        }
        for (int stage = range.first; stage < range.end;
             stage++, ring.next()) {
            ring.wait_empty();
            load_weights(shared, ring.slot, table, tile, stage, scales);
        }
    }
    ptx::griddepcontrol_launch_dependents();
}

__device__ void copy_activations(smem &shared, const groups &table)
{
    ring ring{shared.barriers};

    ptx::griddepcontrol_wait();
    for (turns turn; turn.i < table.tiles(); turn.next()) {
        tile tile = table.find_tile<spec::tile_n>(turn.i);
        const jg_group &group = table.of(tile.group);
        size_t chunk = size_t(ceil_div(group.m, mma::atom_rows)) *
                       mma::atom_bytes;
        u32 bytes = ceil_div(tile.rows, mma::atom_rows) * mma::atom_bytes;
        const u8 *from = table.workspace + group.activations +
                         size_t(tile.row) / mma::atom_rows * mma::atom_bytes;
        range range(group);
        from += range.first * chunks * chunk;
        for (int stage = range.first; stage < range.end;
             stage++, ring.next(), from += chunks * chunk) {
            ptx::mbarrier *full = &ring.shared.full[ring.slot];
            ring.wait_empty();
            ptx::mbarrier_arrive_expect_tx(full, chunks * bytes);
#pragma unroll
            for (int i = 0; i < chunks; i++)
                ptx::cp_async_bulk(shared.activations[ring.slot][i],
                                   from + i * chunk, bytes, full);
        }
    }
}

/* Warps 1 to 3. The loads for a stage are under way while its slot is awaited.
 * A lane makes whole rows of 128 bytes, a token's chunk each. */
__device__ void decode_activations(smem &shared, const groups &table)
{
    constexpr int rows = spec::tile_m * chunks;
    constexpr int most = (rows + 31) / 32; /* a lane */
    ring ring{shared.barriers};
    int lane = threadIdx.x % 32, wait = threadIdx.x / 32 - 1;

    ptx::griddepcontrol_wait();
    for (turns turn; turn.i < table.tiles(); turn.next()) {
        tile tile = table.find_tile<spec::tile_n>(turn.i);
        const jg_group group = table.of(tile.group); /* a copy */
        range range(group);
        for (int stage = range.first; stage < range.end;
             stage++, ring.next(), wait = wait ? wait - 1 : 2) {
            if (wait)
                continue;
            activation_row made[most];
#pragma unroll
            for (int j = 0; j < most; j++) {
                int row = lane + 32 * j;
                made[j].load<spec::strided>(
                    group, tile.row + row % spec::tile_m,
                    stage * chunks + row / spec::tile_m);
            }
            ring.wait_empty();
#pragma unroll
            for (int j = 0; j < most; j++) {
                int row = lane + 32 * j;
                if (row < rows)
                    made[j].store(shared.activations[ring.slot]
                                                    [row / spec::tile_m],
                                  row % spec::tile_m);
            }
            ptx::fence_proxy_async();
            ptx::mbarrier_arrive(&ring.shared.full[ring.slot]);
        }
    }
}

/* `activations` describes the first chunk. */
template <int width>
__device__ inline void multiply(float (&d)[width / 2],
                                const u32 (&a)[batch][4][4], u64 activations)
{
    ptx::wgmma_fence();
#pragma unroll
    for (int i = 0; i < batch; i++)
#pragma unroll
        for (int step = 0; step < 4; step++) {
            u64 b = activations + ((i * chunk_bytes + step * 32) >> 4);
            if constexpr (type == JG_BF16)
                ptx::wgmma_mma_async_bf16(d, a[i][step], b);
            else
                ptx::wgmma_mma_async(d, a[i][step], b);
        }
    ptx::wgmma_commit_group();
}

/* What a consumer keeps from tile to tile. */
struct consumer {
    smem &shared;
    const groups &table;
    int index; /* of the warpgroup */
    weight_reader weights;
    u64 activations; /* the first slot's descriptor */
    ring slots;
};

/* Adds the sums of the other blocks, in the first one: true there. */
template <int count>
__device__ inline bool add_parts(consumer &self, float (&d)[count])
{
    int thread = threadIdx.x % warpgroup, rank = int(ptx::cluster_ctarank());
    auto row = [&](int part) {
        return ((part - 1) * consumers + self.index) * count;
    };

    ptx::barrier_cluster_wait();
    if (rank > 0) {
        auto *mine = ptx::mapa(&self.shared.sums[row(rank)], 0);
#pragma unroll
        for (int i = 0; i < count; i++)
            mine[i][thread] = d[i];
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
#pragma unroll
    for (int part = 1; rank == 0 && part < spec::split; part++)
#pragma unroll
        for (int i = 0; i < count; i++)
            d[i] += self.shared.sums[row(part) + i][thread];
    return rank == 0;
}

/* A tile of at most `width` tokens, with work beside its last products. Each
 * width has a loop of its own: a wgmma of several widths in one loop would be
 * serialized. */
template <int width, class beside>
__device__ inline void consume(consumer &self, const tile &tile, beside work)
{
    const jg_group &group = self.table.of(tile.group);
    smem &shared = self.shared;
    ring &ring = self.slots;
    int scales = group.k / scale_k; /* of a row */
    float d[width / 2] = {};
    u32 a[2][batch][4][4];
    int previous = -1; /* the slot whose last product may be running */
    int first_scale =
        half_atoms ? mma::scale_offset(tile.column % scale_rows) : 0;

    range range(group);
    for (int stage = range.first; stage < range.end; stage++) {
        ring.wait_full();
        self.weights.load_scales(&shared.scales[ring.slot][0][0][first_scale],
                                 scales - stage * (4 * scale_atoms));
#pragma unroll
        for (int j = 0; j < chunks / batch; j++) {
            int first = j * batch; /* chunk of the stage */
#pragma unroll
            for (int i = 0; i < batch; i++) {
                if ((first + i) % 2 == 0)
                    self.weights.load_codes(shared.weights[ring.slot],
                                            first + i);
                self.weights.fragment(a[j % 2][i], first + i);
            }
            multiply<width>(d, a[j % 2],
                            self.activations + ((ring.slot * chunks + first) *
                                                    chunk_bytes >> 4));
            ptx::wgmma_wait_group<1>();
            if (j == 0 && previous >= 0)
                ptx::mbarrier_arrive(&ring.shared.empty[previous]);
        }
        previous = ring.slot;
        ring.next();
    }
    work();
    ptx::wgmma_wait_group<0>();
    ptx::mbarrier_arrive(&ring.shared.empty[previous]);
    if constexpr (spec::split > 1)
        if (!add_parts(self, d))
            return;

    const jg_group &out = self.table.of(tile.group); /* read late */
    int column = tile.column + 64 * self.index;
    constexpr int bytes = epilogue::element_bytes<spec::output>;
    auto ld = [&] {
        return epilogue::row_elements<spec::output, spec::strided>(out);
    };
    u8 *c = reinterpret_cast<u8 *>(out.c) +
            (size_t(tile.row) * ld() + column) * bytes;
    const u8 *bias = out.bias ? out.bias + size_t(column) * bytes : nullptr;
    float alpha = out.alpha ? *out.alpha : 1.0f;
    epilogue::destination to = {c, ld(), tile.rows, out.n - column, bias};
    u8 *staging = shared.staging[self.index];
    if constexpr (spec::accumulate)
        epilogue::add_registers<spec::output>(d, shortfall, alpha, to, staging,
                                              1 + self.index);
    else
        epilogue::store_registers<spec::output>(d, shortfall, alpha, to,
                                                staging, 1 + self.index);
}

/* In the narrowest width that holds the group's tiles. */
template <int width = spec::width_step, class beside>
__device__ inline void consume_any(consumer &self, const tile &tile,
                                   beside work)
{
    if constexpr (width < spec::tile_m)
        if (self.table.tile_rows(tile) > width)
            return consume_any<width + spec::width_step>(self, tile, work);
    consume<width>(self, tile, work);
}

/* The next tile is found ahead, unless tiles are few: it takes code that they
 * wait for. */
__device__ void consume_all(smem &shared, const groups &table, int index)
{
    consumer self = {shared, table, index,
                     weight_reader(4 * index + threadIdx.x / 32 % 4),
                     mma::activation_descriptor(
                         ptx::shared_address(shared.activations)),
                     ring{shared.barriers}};

    turns turn;
    if constexpr (spec::fused) {
        for (; turn.i < table.tiles(); turn.next())
            consume_any(self, table.find_tile<spec::tile_n>(turn.i), [] {});
    } else {
        tile next;
        auto find = [&] {
            if (turn.i < table.tiles())
                next = table.find_tile<spec::tile_n>(turn.i);
        };
        find();
        while (turn.i < table.tiles()) {
            tile tile = next;
            consume_any(self, tile, [&] {
                turn.next();
                find();
            });
        }
    }
}

__device__ void initialize(smem &shared)
{
    for (int i = 0; i < spec::stages; i++) {
        ptx::mbarrier_init(&shared.barriers.full[i],
                           spec::fused ? 1 + 32 : 2);
        ptx::mbarrier_init(&shared.barriers.empty[i], consumers * warpgroup);
    }
    ptx::fence_mbarrier_init();
}

extern "C" __global__ __launch_bounds__(spec::threads, spec::blocks) void
sm90_nvfp4(const __grid_constant__ groups::parameter given)
{
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    smem &shared = *reinterpret_cast<smem *>(memory);
    int role = threadIdx.x / warpgroup;

    if (threadIdx.x == 0)
        initialize(shared);
    __syncthreads();
    const groups table = groups::complete(given, memory + sizeof(smem));
    if (spec::split > 1)
        ptx::barrier_cluster_arrive();

    if (role == 0) {
        ptx::setmaxnreg_dec<spec::producer_registers>();
        int warp = threadIdx.x / 32;
        if (warp == 0 && ptx::elect_one())
            copy_weights(shared, table);
        else if (spec::fused && warp > 0)
            decode_activations(shared, table);
        else if (!spec::fused && warp == 1 && ptx::elect_one())
            copy_activations(shared, table);
        if (spec::split > 1) {
            ptx::barrier_cluster_wait();
            ptx::barrier_cluster_arrive();
        }
    } else {
        ptx::setmaxnreg_inc<spec::consumer_registers>();
        consume_all(shared, table, role - 1);
    }
}
