/* SPDX-License-Identifier: MIT */
/* Which 128 rows of which group come next, where device memory says how many
 * rows the groups have.
 *
 * Numbered are slots. Of masked groups each has the same number of them. Of
 * stacked ones a group's first slot follows from its own offset, as JG_FLOOR
 * places scales, so that nobody has to add up the groups before it; some slots
 * stay empty.
 *
 * A group is bad if its own numbers are: it is skipped, and reported. Others
 * are not touched by that, even if offsets that run backwards give several
 * groups one slot. */
#pragma once
#include <base/conversion.h>
#include <base/types.cuh>
#include <sched/team.cuh>

namespace sched {

struct row_tile {
    int group;
    int rows;            /* 1 to 128; 0: there is no room for its scales */
    long long row;       /* its first one, among all */
    long long scale_row; /* that of its scales, a multiple of 128 */
};

struct row_group {
    long long first; /* row */
    int rows;
    int fault; /* 0, or why it is bad */
    int wrong; /* number, then */
};

template <int layout, int place, int threads> struct row_tiles {
    const jg_conversion_job &job;
    team<threads> all;
    int end; /* JG_STACKED: the last offset, where that may be */

    __device__ row_tiles(const jg_conversion_job &j, u32 *words)
        : job(j), all{words}, end(j.max_rows)
    {
        if (layout == JG_STACKED && j.rows[j.groups] >= 0)
            end = min(end, j.rows[j.groups]);
    }

    __device__ row_group read(int g) const
    {
        row_group group{};
        int from = 0, to = job.max_rows;
        if (layout == JG_STACKED)
            from = job.rows[g];
        if (job.rows)
            to = job.rows[layout == JG_STACKED ? g + 1 : g];
        bool begins = from >= 0 && from <= end;
        if (!begins || to < from || to > end) {
            group.fault = JG_FAULT_ROWS;
            group.wrong = begins ? to : from;
            return group;
        }
        group.rows = to - from;
        group.first =
            layout == JG_STACKED ? from : (long long)g * job.max_rows;
        if (place == JG_EXPLICIT && group.rows) {
            int row = job.scale_row[g];
            if (row < 0 || row % JG_ATOM_ROWS ||
                row + jg_atom_rows(group.rows) > job.scale_rows) {
                group.fault = JG_FAULT_SCALE_ROW;
                group.wrong = row;
            }
        }
        return group;
    }

    __device__ static int tiles(const row_group &group)
    {
        return group.fault ? 0 : int(jg_atom_rows(group.rows) / JG_ATOM_ROWS);
    }

    __device__ int slots_a_group() const
    {
        return int(jg_atom_rows(job.max_rows) / JG_ATOM_ROWS);
    }

    __device__ int slots() const
    {
        return layout == JG_STACKED
                   ? int(jg_scale_rows(JG_FLOOR, end, job.groups) /
                         JG_ATOM_ROWS)
                   : job.groups * slots_a_group();
    }

    __device__ int first_slot(const row_group &group, int g) const
    {
        return layout == JG_STACKED
                   ? int(jg_scale_row(JG_FLOOR, group.first, g, 0) /
                         JG_ATOM_ROWS)
                   : g * slots_a_group();
    }

    /* The lowest bad group, from the first block, unless there is an earlier
     * fault. */
    __device__ void report() const
    {
        u32 bad = ~0u, unused = 0;
        if (!job.fault || blockIdx.x)
            return;
#pragma unroll 1
        for (int g = threadIdx.x; g < job.groups; g += threads)
            if (read(g).fault)
                bad = min(bad, u32(g));
        all.span(bad, unused);
        if (bad == ~0u || threadIdx.x || job.fault->code)
            return;
        row_group group = read(int(bad));
        job.fault->code = group.fault;
        job.fault->group = int(bad);
        job.fault->value = group.wrong;
    }

    /* Where the scales of a good group begin. JG_TIGHT adds up the others. */
    __device__ long long scale_row(const row_group &group, int g) const
    {
        if (place == JG_EXPLICIT)
            return job.scale_row[g];
        if (place != JG_TIGHT)
            return jg_scale_row(place, group.first, g, job.max_rows);
        u32 before = 0;
#pragma unroll 1
        for (int i = threadIdx.x; i < g; i += threads)
            before += u32(tiles(read(i)));
        return (long long)all.sum(before) * JG_ATOM_ROWS;
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
        for (int g = threadIdx.x; g < job.groups; g += threads) {
            row_group group = read(g);
            int local = search.slot - first_slot(group, g);
            if (g > search.group && local >= 0 && local < tiles(group)) {
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
        row_group group = read(search.group);
        int local = search.slot - first_slot(group, search.group);
        if (local >= tiles(group))
            return false;
        int before = local * JG_ATOM_ROWS;
        long long scales = scale_row(group, search.group);
        bool room = scales + jg_atom_rows(group.rows) <= job.scale_rows;
        tile.group = search.group;
        tile.rows = room ? min(int(JG_ATOM_ROWS), group.rows - before) : 0;
        tile.row = group.first + before;
        tile.scale_row = scales + before;
        return true;
    }
};

} // namespace sched
