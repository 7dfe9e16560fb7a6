/* SPDX-License-Identifier: MIT */
/* Groups by the numbers in device memory, which may be anything: a group is
 * bad if its own numbers are, and is then left out; others are not touched by
 * that. */
#pragma once
#include <base/rows.h>
#include <base/types.cuh>
#include <sched/team.cuh>

namespace sched
{

struct row_group {
    long long first; /* row */
    int rows;
    int fault; /* 0, or why it is bad */
    int wrong; /* number, then */
};

__device__ inline int scale_atoms(const row_group &group)
{
    return group.fault ? 0 : int(jg_atom_rows(group.rows) / JG_ATOM_ROWS);
}

struct row_groups {
    const jg_row_numbers &numbers;
    int layout, place; /* jg_rows, jg_scale_place */
    int end; /* JG_STACKED: the last offset, where that may be */

    __device__ row_groups(const jg_row_numbers &n, int l, int p)
        : numbers(n), layout(l), place(p), end(n.max_rows)
    {
        if (layout == JG_STACKED && n.rows[n.groups] >= 0)
            end = min(end, n.rows[n.groups]);
    }

    __device__ row_group read(int g) const
    {
        row_group group{};
        int from = 0, to = numbers.max_rows;
        if (layout == JG_STACKED)
            from = numbers.rows[g];
        if (numbers.rows)
            to = numbers.rows[layout == JG_STACKED ? g + 1 : g];
        bool begins = from >= 0 && from <= end;
        if (!begins || to < from || to > end) {
            group.fault = JG_FAULT_ROWS;
            group.wrong = begins ? to : from;
            return group;
        }
        group.rows = to - from;
        group.first =
            layout == JG_STACKED ? from : (long long)g * numbers.max_rows;
        if (place == JG_EXPLICIT && group.rows) {
            int row = numbers.scale_row[g];
            if (row < 0 || row % JG_ATOM_ROWS ||
                row + jg_atom_rows(group.rows) > numbers.scale_rows) {
                group.fault = JG_FAULT_SCALE_ROW;
                group.wrong = row;
            }
        }
        return group;
    }

    /* Where the scales of a good group begin; not for JG_TIGHT, which is
     * behind those of all groups before. */
    __device__ long long scale_row(const row_group &group, int g) const
    {
        return place == JG_EXPLICIT
                   ? numbers.scale_row[g]
                   : jg_scale_row(place, group.first, g, numbers.max_rows);
    }

    /* By all threads of the block; ~0u: none is bad. */
    template <int threads>
    __device__ u32 lowest_bad(const team<threads> &all) const
    {
        u32 bad = ~0u, unused = 0;
#pragma unroll 1
        for (int g = threadIdx.x; g < numbers.groups; g += threads)
            if (read(g).fault)
                bad = min(bad, u32(g));
        all.span(bad, unused);
        return bad;
    }

    /* By one thread: the lowest bad group, unless there is an earlier fault.
     */
    __device__ void report(int g) const
    {
        if (numbers.fault->code)
            return;
        row_group group = read(g);
        numbers.fault->code = group.fault;
        numbers.fault->group = g;
        numbers.fault->value = group.wrong;
    }
};

} // namespace sched
