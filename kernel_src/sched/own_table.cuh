/* SPDX-License-Identifier: MIT */
/* The table of few groups of experts as a block makes it for itself: in shared
 * memory what the groups before a group take; all else follows from its
 * numbers, which are read again.
 *
 * As in gemm/experts.cu, bad groups are left out, and those that the workspace
 * has no room for. Of the latter there is none before one that it has room
 * for, unless that has no rows: sums of those before are the same for both. */
#pragma once
#include <base/experts.h>
#include <base/types.cuh>
#include <ptx/warp.cuh>
#include <sched/placing.cuh>
#include <sched/row_groups.cuh>

namespace sched {

/* With `decodes`, for who reads activations and their scales. */
template <int threads, bool decodes> struct own_table {
    static constexpr int warps = threads / 32;
    static constexpr int sums_count = decodes ? 3 : 2;
    static_assert(threads >= JG_OWN_GROUPS);

    /* Of all groups before. */
    int first_tile[JG_OWN_GROUPS + 1];
    int first_atom[JG_OWN_GROUPS + 1]; /* of 8 tokens */
    int first_scale_atom[decodes ? JG_OWN_GROUPS + 1 : 1]; /* JG_TIGHT */
    u32 words[sums_count * warps]; /* of the threads */
    int count; /* of groups; behind them there is no room */

    /* Sums that stay below 2^31: none that there is room for is larger. */
    __device__ static u32 add(u32 a, u32 b)
    {
        return min(a + b, 0x7fffffffu);
    }

    /* Adds what the threads before this one bring. */
    __device__ void scan(u32 (&sums)[sums_count])
    {
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

#pragma unroll
        for (int i = 1; i < 32; i *= 2)
#pragma unroll
            for (int j = 0; j < sums_count; j++) {
                u32 other = ptx::shfl_up(sums[j], i);
                sums[j] = add(sums[j], lane >= i ? other : 0);
            }
#pragma unroll
        for (int j = 0; j < sums_count; j++)
            if (lane == 31)
                words[j * warps + warp] = sums[j];
        __syncthreads();
        for (int i = 0; i < warp; i++)
#pragma unroll
            for (int j = 0; j < sums_count; j++)
                sums[j] = add(sums[j], words[j * warps + i]);
    }

    /* By all threads: a group each. True if it is bad. */
    __device__ bool make(const jg_row_numbers &numbers,
                         const row_groups &rows, const jg_tiling &tiling,
                         int most_atoms)
    {
        int g = threadIdx.x;
        row_group group{};

        if (g < numbers.groups)
            group = rows.read(g);
        if (group.fault)
            group.rows = 0;
        extent own = extent_of(tiling, group.rows);
        u32 sums[sums_count] = {own.tiles, own.atoms};
        if constexpr (decodes)
            sums[2] = u32(scale_atoms(group));
        scan(sums);
        if (g == 0)
            first_tile[0] = first_atom[0] = first_scale_atom[0] = 0;
        if (g < numbers.groups) {
            bool room = sums[1] <= u32(most_atoms);
            bool before = sums[1] - own.atoms <= u32(most_atoms);
            first_tile[g + 1] = int(sums[0]);
            first_atom[g + 1] = int(sums[1]);
            if constexpr (decodes)
                first_scale_atom[g + 1] = int(sums[2]);
            if (before && (!room || g == numbers.groups - 1))
                count = room ? g + 1 : g;
        }
        __syncthreads();
        return group.fault;
    }
};

} // namespace sched
