/* SPDX-License-Identifier: MIT */
/* The rows of all good groups, for work that a row's group does not matter
 * to: rows are numbered through, and a block asks whether one is a group's. */
#pragma once
#include <base/rows.h>
#include <base/types.cuh>
#include <sched/row_groups.cuh>
#include <sched/team.cuh>

namespace sched {

template <int layout, int threads> struct all_rows {
    const jg_row_numbers &numbers;
    row_groups groups;
    team<threads> all;
    bool good; /* JG_STACKED: every group, so that one begins where the one
                  before ends */

    /* Reports the lowest bad group, from the first block. Of masked groups
     * nobody else needs to go through all. */
    __device__ all_rows(const jg_row_numbers &n, u32 *words)
        : numbers(n), groups(n, layout, JG_FLOOR), all{words}, good(true)
    {
        if (layout == JG_MASKED && blockIdx.x)
            return;
        u32 bad = groups.lowest_bad(all);
        good = bad == ~0u;
        if (!good && n.fault && !blockIdx.x && !threadIdx.x)
            groups.report(int(bad));
    }

    /* Behind every row of a group. */
    __device__ long long end() const
    {
        return layout == JG_STACKED
                   ? groups.end
                   : (long long)numbers.groups * numbers.max_rows;
    }

    __device__ static bool has(const row_group &group, long long row)
    {
        return row >= group.first && row < group.first + group.rows;
    }

    /* Of a row below the end; all threads come. */
    __device__ bool has(long long row) const
    {
        if (layout == JG_MASKED)
            return has(groups.read(int(row / numbers.max_rows)), row);
        if (good)
            return row >= numbers.rows[0];
        u32 missing = 1, unused = 0;
#pragma unroll 1
        for (int g = threadIdx.x; g < numbers.groups; g += threads)
            if (has(groups.read(g), row))
                missing = 0;
        all.span(missing, unused);
        return !missing;
    }
};

} // namespace sched
