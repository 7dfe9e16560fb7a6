/* SPDX-License-Identifier: MIT */
/* Makes the table of groups of stacked experts from what device memory says of
 * their rows: one block, a thread a group. It is the table that the host makes
 * where it knows the sizes, but in the groups' own order.
 *
 * Bad groups are left out and reported (sched/row_groups.cuh). Left out are
 * also those that the workspace has no room for, which is only where offsets
 * run backwards, so that groups have rows in common. Where it has room scales
 * have, too: of r rows in atoms of 8, and so of 128, each group adds at most 7
 * and 127.
 *
 * With spec::zero_tail there are more blocks, unless a limit leaves one only.
 * They fill rows of C that are no group's with zeros: behind the last offset,
 * or each group's count. */
#include <base/experts.h>
#include <base/types.cuh>
#include <pipeline/tensor_maps.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <sched/row_groups.cuh>
#include <sched/team.cuh>
#include <spec.cuh>

constexpr int token_atom = 8;
constexpr int unit_bytes = 1024; /* of decoded activations */

using row_groups = sched::row_groups<spec::layout, spec::place>;
using team = sched::team<spec::threads>;

struct smem {
    u64 words[team::words_count / 2];
};
static_assert(sizeof(smem) == spec::smem_bytes);

/* What groups take of the table; together below 2^30 each. */
struct extent {
    u32 tiles, atoms; /* of 8 tokens */

    __device__ u64 both() const
    {
        return u64(tiles) << 32 | atoms;
    }
    __device__ static extent of(u64 both)
    {
        return {u32(both >> 32), u32(both)};
    }
};

/* Sums over the groups before. */
struct sums {
    u64 scale_atoms, atoms; /* also of those that there is no room for */
    u64 extents;
};

/* As lib/maps.c encodes them. */
__device__ void write_maps(const jg_experts_job &job, jg_group &group, int g)
{
    constexpr int bytes = pipeline::map_bytes;
    u8 *maps = job.group_maps + size_t(g) * spec::maps * bytes;

    if constexpr (spec::maps == 1) {
        pipeline::make_map(group.b_map, job.maps[0], group.b, job.n);
    } else {
        pipeline::make_map(maps, job.maps[0], group.a, group.m);
        pipeline::make_map(maps + bytes, job.maps[1], group.b, job.n);
    }
    if constexpr (spec::maps == 4) {
        pipeline::make_map(maps + 2 * bytes, job.maps[2], group.sfa,
                           ceil_div(group.m, JG_ATOM_ROWS));
        pipeline::make_map(maps + 3 * bytes, job.maps[3], group.sfb,
                           ceil_div(job.n, JG_ATOM_ROWS));
    }
    ptx::fence_proxy_tensormap_release();
}

__device__ void write_group(const jg_experts_job &job,
                            const sched::row_group &from, int g,
                            long long scale_row, extent before)
{
    jg_group &group = job.groups[g];
    u32 units = before.atoms * u32(job.tiling.units);
    long long row_bytes_c = spec::strided ? job.row_bytes_c : job.row_c;

    group.a = job.a + from.first * job.row_a;
    group.sfa = job.sfa + scale_row / JG_ATOM_ROWS *
                              (ceil_div(job.k, JG_ATOM_K) * JG_ATOM_BYTES);
    group.b = job.b + g * job.stride_b;
    group.sfb = job.sfb + g * job.stride_sfb;
    group.c = reinterpret_cast<u16 *>(job.c + from.first * job.row_c);
    group.alpha = job.alpha ? job.alpha + g : nullptr;
    group.bias = job.bias ? job.bias + g * row_bytes_c : nullptr;
    group.activations = u64(units) * unit_bytes;
    group.m = from.rows;
    group.n = job.n;
    group.k = job.k;
    if constexpr (spec::strided) {
        group.row_a = job.row_a;
        group.row_c = job.row_c;
    }
    group.chunks = job.tiling.chunks;
    group.tile_rows = jg_tile_rows(&job.tiling, u32(from.rows));
    job.first_tile[g] = int(before.tiles);
    job.first_unit[g] = int(units);
    if (from.rows)
        write_maps(job, group, g);
}

/* Group g, which may be past the last. True if it is bad. */
__device__ bool place_group(const jg_experts_job &job, const row_groups &rows,
                            const team &all, int g, sums &before)
{
    sched::row_group group{};
    long long scale_row = 0;

    if (g < job.numbers.groups)
        group = rows.read(g);
    if (group.fault)
        group.rows = 0;
    u32 atoms = (u32(group.rows) + token_atom - 1) / token_atom;
    if (spec::place == JG_TIGHT)
        scale_row = (long long)all.scan(sched::scale_atoms(group),
                                        before.scale_atoms) *
                    JG_ATOM_ROWS;
    else if (group.rows)
        scale_row = rows.scale_row(group, g);
    if (all.scan(atoms, before.atoms) + atoms > u64(job.most_atoms))
        group.rows = 0;

    extent own{0, 0};
    if (group.rows)
        own = {u32(ceil_div(group.rows,
                            jg_tile_rows(&job.tiling, u32(group.rows)))) *
                   u32(job.tiling.across),
               atoms};
    extent at = extent::of(all.scan(own.both(), before.extents));
    if (g < job.numbers.groups)
        write_group(job, group, g, scale_row, at);
    return group.fault;
}

/* Of all rows there may be, a warp each, of so many blocks. */
__device__ void zero_tail(const jg_experts_job &job, const row_groups &rows,
                          int block, int blocks)
{
    constexpr int warps = spec::threads / 32;
    constexpr bool stacked = spec::layout == JG_STACKED;
    const jg_row_numbers &numbers = job.numbers;
    long long most = numbers.max_rows;
    long long end = stacked ? most : most * numbers.groups;
    long long row = (stacked ? rows.end : 0) +
                    block * warps + int(threadIdx.x) / 32;

    for (; row < end; row += blocks * warps) {
        if constexpr (!stacked) {
            sched::row_group group = rows.read(int(row / most));
            if (group.fault || row - group.first < group.rows)
                continue;
        }
        u8 *c = job.c + row * job.row_c;
        for (long long i = threadIdx.x % 32 * 16; i < job.row_bytes_c;
             i += 32 * 16)
            *reinterpret_cast<uint4 *>(c + i) = uint4{0, 0, 0, 0};
    }
}

extern "C" __global__ __launch_bounds__(spec::threads, 1) void
experts(const __grid_constant__ jg_experts_job job)
{
    smem &shared = *reinterpret_cast<smem *>(ptx::dynamic_smem());
    team all{reinterpret_cast<u32 *>(shared.words)};

    ptx::griddepcontrol_launch_dependents();
    ptx::griddepcontrol_wait();
    row_groups rows(job.numbers);
    sums before{0, 0, 0};
    int groups = job.numbers.groups;
    u32 bad = ~0u, unused = 0;

    if constexpr (spec::zero_tail)
        if (blockIdx.x)
            return zero_tail(job, rows, blockIdx.x - 1, gridDim.x - 1);
    for (int first = 0; first < groups; first += spec::threads) {
        int g = first + int(threadIdx.x);
        if (place_group(job, rows, all, g, before))
            bad = min(bad, u32(g));
    }
    all.span(bad, unused);
    if constexpr (spec::zero_tail)
        if (gridDim.x == 1)
            zero_tail(job, rows, 0, 1);
    if (threadIdx.x)
        return;
    extent end = extent::of(before.extents);
    job.first_tile[groups] = int(end.tiles);
    job.first_unit[groups] = int(end.atoms) * job.tiling.units;
    if (bad != ~0u && job.numbers.fault)
        rows.report(int(bad));
}
