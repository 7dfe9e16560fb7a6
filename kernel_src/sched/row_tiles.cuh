/* SPDX-License-Identifier: MIT */
/* Which 128 rows of which group come next, where device memory says how many
 * rows the groups have.
 *
 * Numbered are slots. Of masked groups each has the same number of them. Of
 * stacked ones a group's first slot follows from its own offset, as JG_FLOOR
 * places scales, so that nobody has to add up the groups before it; some slots
 * stay empty.
 *
 * Where offsets run backwards, several groups may have one slot. */
#pragma once
#include <base/rows.h>
#include <base/types.cuh>
#include <sched/row_groups.cuh>
#include <sched/team.cuh>

namespace sched {

struct row_tile {
    int group;
    int rows;            /* 1 to 128; 0: there is no room for its scales */
    long long row;       /* its first one, among all */
    long long scale_row; /* that of its scales, a multiple of 128 */
};

template <int layout, int place, int threads> struct row_tiles {
    const jg_row_numbers &numbers;
    row_groups groups;
    team<threads> all;

    __device__ row_tiles(const jg_row_numbers &n, u32 *words)
        : numbers(n), groups(n, layout, place), all{words}
    {
    }

    __device__ int slots_a_group() const
    {
        return int(jg_atom_rows(numbers.max_rows) / JG_ATOM_ROWS);
    }

    __device__ int slots() const
    {
        return layout == JG_STACKED
                   ? int(jg_scale_rows(JG_FLOOR, groups.end, numbers.groups) /
                         JG_ATOM_ROWS)
                   : numbers.groups * slots_a_group();
    }

    __device__ int first_slot(const row_group &group, int g) const
    {
        return layout == JG_STACKED
                   ? int(jg_scale_row(JG_FLOOR, group.first, g, 0) /
                         JG_ATOM_ROWS)
                   : g * slots_a_group();
    }

    /* From the first block. */
    __device__ void report() const
    {
        if (!numbers.fault || blockIdx.x)
            return;
        u32 bad = groups.lowest_bad(all);
        if (bad != ~0u && threadIdx.x == 0)
            groups.report(int(bad));
    }

    __device__ long long scale_row(const row_group &group, int g) const
    {
        if (place == JG_TIGHT) {
            u32 before = 0;
#pragma unroll 1
            for (int i = threadIdx.x; i < g; i += threads)
                before += u32(scale_atoms(groups.read(i)));
            return (long long)all.sum(before) * JG_ATOM_ROWS;
        }
        return groups.scale_row(group, g);
    }

    /* A slot, the last group found in it, and the last one that there is. */
    struct search {
        int slot;
        int group = -1, last = 0x7fffffff;
    };

    __device__ bool find(search &search) const
    {
        if (layout == JG_MASKED) {
            bool first = search.group < 0;
            search.group = search.slot / slots_a_group();
            return first;
        }
        u32 low = ~0u, high = 0;
        if (search.group >= search.last)
            return false;
#pragma unroll 1
        for (int g = threadIdx.x; g < numbers.groups; g += threads) {
            row_group group = groups.read(g);
            int local = search.slot - first_slot(group, g);
            if (g > search.group && local >= 0 && local < scale_atoms(group)) {
                low = min(low, u32(g));
                high = u32(g);
            }
        }
        all.span(low, high);
        search.group = int(low);
        search.last = int(high);
        return low != ~0u;
    }

    __device__ bool next(search &search, row_tile &tile) const
    {
        if (!find(search))
            return false;
        row_group group = groups.read(search.group);
        int local = search.slot - first_slot(group, search.group);
        if (local >= scale_atoms(group))
            return false;
        int before = local * JG_ATOM_ROWS;
        long long scales = scale_row(group, search.group);
        bool room = scales + jg_atom_rows(group.rows) <= numbers.scale_rows;
        tile.group = search.group;
        tile.rows = room ? min(int(JG_ATOM_ROWS), group.rows - before) : 0;
        tile.row = group.first + before;
        tile.scale_row = scales + before;
        return true;
    }
};

} // namespace sched
