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
#include <epilogue/zero_tail.cuh>
#include <pipeline/tensor_maps.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <sched/placing.cuh>
#include <sched/row_groups.cuh>
#include <sched/team.cuh>
#include <spec.cuh>

using sched::extent;
using sched::row_groups;
using team = sched::team<spec::threads>;

struct smem {
    u64 words[team::words_count / 2];
};
static_assert(sizeof(smem) == spec::smem_bytes);

/* Of all groups together both numbers are below 2^30. */
__device__ inline u64 both(extent of)
{
    return u64(of.tiles) << 32 | of.atoms;
}

__device__ inline extent extent_of(u64 both)
{
    return {u32(both >> 32), u32(both)};
}

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
        pipeline::make_map(group.b_map, job.maps[0], group.b, job.experts.n);
    } else {
        pipeline::make_map(maps, job.maps[0], group.a, group.m);
        pipeline::make_map(maps + bytes, job.maps[1], group.b, job.experts.n);
    }
    if constexpr (spec::maps == 4) {
        pipeline::make_map(maps + 2 * bytes, job.maps[2], group.sfa,
                           ceil_div(group.m, JG_ATOM_ROWS));
        pipeline::make_map(maps + 3 * bytes, job.maps[3], group.sfb,
                           ceil_div(job.experts.n, JG_ATOM_ROWS));
    }
    ptx::fence_proxy_tensormap_release();
}

__device__ void write_group(const jg_experts_job &job,
                            const sched::row_group &from, int g,
                            long long scale_row, extent before)
{
    jg_group &group = job.groups[g];

    sched::place_group<spec::strided>(job.experts, from, g, scale_row,
                                      before.atoms, group);
    job.first_tile[g] = int(before.tiles);
    job.first_unit[g] = int(before.atoms * u32(job.experts.tiling.units));
    if (from.rows)
        write_maps(job, group, g);
}

/* Group g, which may be past the last. True if it is bad. */
__device__ bool place_group(const jg_experts_job &job, const row_groups &rows,
                            const team &all, int g, sums &before)
{
    const jg_experts &experts = job.experts;
    sched::row_group group{};
    long long scale_row = 0;

    if (g < experts.numbers.groups)
        group = rows.read(g);
    if (group.fault)
        group.rows = 0;
    u32 atoms = (u32(group.rows) + sched::token_atom - 1) / sched::token_atom;
    if (spec::place == JG_TIGHT)
        scale_row = (long long)all.scan(sched::scale_atoms(group),
                                        before.scale_atoms) *
                    JG_ATOM_ROWS;
    else if (group.rows)
        scale_row = rows.scale_row(group, g);
    if (all.scan(atoms, before.atoms) + atoms > u64(experts.most_atoms))
        group.rows = 0;

    extent own = sched::extent_of(experts.tiling, group.rows);
    extent at = extent_of(all.scan(both(own), before.extents));
    if (g < experts.numbers.groups)
        write_group(job, group, g, scale_row, at);
    return group.fault;
}

extern "C" __global__ __launch_bounds__(spec::threads, 1) void
experts(const __grid_constant__ jg_experts_job job)
{
    smem &shared = *reinterpret_cast<smem *>(ptx::dynamic_smem());
    team all{reinterpret_cast<u32 *>(shared.words)};

    ptx::griddepcontrol_launch_dependents();
    ptx::griddepcontrol_wait();
    const jg_experts &experts = job.experts;
    row_groups rows(experts.numbers, spec::layout, spec::place);
    sums before{0, 0, 0};
    int groups = experts.numbers.groups;
    u32 bad = ~0u, unused = 0;

    if constexpr (spec::zero_tail)
        if (blockIdx.x)
            return epilogue::zero_tail<spec::threads>(experts, rows,
                                                      blockIdx.x - 1,
                                                      gridDim.x - 1);
    for (int first = 0; first < groups; first += spec::threads) {
        int g = first + int(threadIdx.x);
        if (place_group(job, rows, all, g, before))
            bad = min(bad, u32(g));
    }
    all.span(bad, unused);
    if constexpr (spec::zero_tail)
        if (gridDim.x == 1)
            epilogue::zero_tail<spec::threads>(experts, rows, 0, 1);
    if (threadIdx.x)
        return;
    extent end = extent_of(before.extents);
    job.first_tile[groups] = int(end.tiles);
    job.first_unit[groups] = int(end.atoms) * experts.tiling.units;
    if (bad != ~0u && experts.numbers.fault)
        rows.report(int(bad));
}
