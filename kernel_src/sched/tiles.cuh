/* SPDX-License-Identifier: MIT */
/* Which piece of which group comes next: flat numbers over all groups, taken
 * by the blocks in turn. Plain arithmetic. */
#pragma once
#include <base/group.h>
#include <base/types.cuh>

namespace sched {

/* The group that owns flat number `i`: the last one that starts at or before
 * it. Groups that own nothing start where the next one does, so they are never
 * the last. Each round looks at three at once: what takes time is how many
 * accesses to memory wait for one another. */
__device__ inline int find_group(const int *first, int count, int i)
{
    constexpr int ways = 4;
    int low = 0;
#pragma unroll 1
    while (count > 1) {
        int step = ceil_div(count, ways), passed = 0;
#pragma unroll
        for (int way = 1; way < ways; way++)
            passed += way * step < count && first[low + way * step] <= i;
        low += passed * step;
        count = min(step, count - passed * step);
    }
    return low;
}

struct tile {
    const jg_group *group;
    int row;    /* first token */
    int rows;   /* tokens */
    int column; /* first weight row */
};

/* Tile i, which is group g's. Tiles that share weights are neighbours, so that
 * they meet in the L2. */
template <int tile_n>
__device__ inline tile cut_tile(const jg_table &table, int g, int i)
{
    const jg_group *group = &table.groups[g];
    int local = i - table.first_tile[g];
    int rows = ceil_div(group->m, group->tile_rows);
    int row = local % rows * group->tile_rows;
    return {group, row, min(group->tile_rows, group->m - row),
            local / rows * tile_n};
}

template <int tile_n>
__device__ inline tile find_tile(const jg_table &table, int i)
{
    return cut_tile<tile_n>(
        table, find_group(table.first_tile, table.count, i), i);
}

/* The tiles of a block, or of `ctas` that share them. Their numbers go out
 * forwards and backwards in turn: large tiles come first, so who has a large
 * one gets a small one next. */
template <int ctas = 1> struct turns {
    int i = blockIdx.x / ctas;
    int step = 2 * (gridDim.x / ctas - blockIdx.x / ctas) - 1;

    __device__ void next()
    {
        i += step;
        step = 2 * (gridDim.x / ctas) - step;
    }
};

/* All of that, tile by tile; with `neighbours` the tiles of a block are an equal
 * share of neighbours instead, so that it meets few groups. */
template <int tile_n, int ctas, bool neighbours> struct walk {
    const jg_table &table;
    turns<ctas> turn;

    __device__ explicit walk(const jg_table &t) : table(t)
    {
        if (neighbours)
            turn.i = share(blockIdx.x);
    }
    __device__ int share(int block) const
    {
        return int((long long)table.tiles * block / gridDim.x);
    }
    __device__ bool more() const
    {
        return turn.i < (neighbours ? share(blockIdx.x + 1) : table.tiles);
    }
    __device__ void next()
    {
        if (neighbours)
            turn.i++;
        else
            turn.next();
    }
    __device__ tile get() const
    {
        int g = find_group(table.first_tile, table.count, turn.i);
        return cut_tile<tile_n>(table, g, turn.i);
    }
};

} // namespace sched
