/* SPDX-License-Identifier: MIT */
/* Where Hopper's kernels have their groups from: the table in global memory,
 * or their own, which a block makes of the numbers in device memory. What a
 * page names a group by, `handle`, is a pointer to it or its number. */
#pragma once
#include <base/experts.h>
#include <base/group.h>
#include <base/types.cuh>
#include <epilogue/zero_tail.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/sync.cuh>
#include <ptx/tma.cuh>
#include <sched/own_table.cuh>
#include <sched/placing.cuh>
#include <sched/row_groups.cuh>
#include <sched/team.cuh>
#include <sched/tiles.cuh>

namespace gemm {

/* The table in global memory; who decodes activations reads its counts once,
 * others have no registers left. */
template <bool decodes> struct given_groups : jg_table {
    using parameter = jg_table;
    using handle = const jg_group *;
    using tile = sched::tile;
    static constexpr handle none = nullptr;
    static constexpr int shared_bytes = 0;

    __device__ static given_groups awaited(const jg_table &given, u8 *)
    {
        ptx::griddepcontrol_wait();
        return {given};
    }
    /* For who has something to do before: only a table that the host did not
     * write is waited for. */
    __device__ static given_groups complete(const jg_table &given, u8 *)
    {
        jg_table table = given;
        if (given.tiles < 0) {
            ptx::griddepcontrol_wait();
            if (decodes)
                table.tiles = table.first_tile[table.count];
        }
        return {table};
    }
    __device__ int tiles() const
    {
        return !decodes && jg_table::tiles < 0 ? first_tile[count]
                                               : jg_table::tiles;
    }
    __device__ int units() const
    {
        return jg_table::tiles < 0 ? first_unit[count] : jg_table::units;
    }
    __device__ const jg_group &of(handle group) const
    {
        return *group;
    }
    __device__ int tile_rows(const tile &tile) const
    {
        return tile.group->tile_rows;
    }
    template <int tile_n> __device__ tile find_tile(int i) const
    {
        return sched::find_tile<tile_n>(*this, i);
    }
    /* The group of a unit, which becomes its number in the group. */
    __device__ handle find_unit(int &unit) const
    {
        int g = sched::find_group(first_unit, count, unit);
        unit -= first_unit[g];
        return &groups[g];
    }
    /* Before the first copy with a group's map. */
    __device__ void acquire_map(handle group) const
    {
        ptx::fence_proxy_tensormap_acquire(group->b_map);
    }
    /* Of a tile's weights, those from byte `from` of their rows on. */
    __device__ void copy_weights(void *to, const tile &tile, int from,
                                 ptx::mbarrier *full) const
    {
        ptx::cp_async_bulk_tensor_2d(to, tile.group->b_map, from, tile.column,
                                     full);
    }
    __device__ void fill_tail() const
    {
    }
};

/* Their own; `decodes` activations or not. */
template <bool strided, bool decodes, int threads> struct own_groups {
    using parameter = jg_own_job;
    using table = sched::own_table<threads, decodes>;
    using handle = int;
    static constexpr handle none = -1;
    static constexpr int shared_bytes = sizeof(table);

    struct tile {
        handle group;
        int row, rows, column; /* as in sched::tile */
        int tile_rows;
    };

    const jg_own_job &job;
    const table &own;
    sched::row_groups rows;
    u8 *workspace;

    __device__ own_groups(const jg_own_job &given, const table &made)
        : job(given), own(made),
          rows(given.experts.numbers, given.layout, given.place),
          workspace(given.workspace)
    {
    }

    /* By all threads. The first kernel of a run, which decodes, reports bad
     * numbers. */
    __device__ static own_groups awaited(const jg_own_job &given, u8 *shared)
    {
        ptx::griddepcontrol_wait();
        table &own = *reinterpret_cast<table *>(shared);
        own_groups made(given, own);
        const jg_experts &experts = given.experts;
        const jg_row_numbers &numbers = experts.numbers;
        u32 bad = ~0u, unused = 0;

        if (own.make(numbers, made.rows, experts.tiling, experts.most_atoms))
            bad = threadIdx.x;
        if (decodes && blockIdx.x == 0 && numbers.fault) {
            sched::team<threads>{own.words}.span(bad, unused);
            if (bad != ~0u && threadIdx.x == 0)
                made.rows.report(int(bad));
        }
        return made;
    }

    /* For the product, which with `decodes` is the first kernel. */
    __device__ static own_groups complete(const jg_own_job &given, u8 *shared)
    {
        own_groups made = awaited(given, shared);
        if (decodes)
            made.fill_tail();
        return made;
    }

    __device__ int tiles() const
    {
        return own.first_tile[own.count];
    }
    __device__ int units() const
    {
        return own.first_atom[own.count] * job.experts.tiling.units;
    }
    __device__ jg_group of(handle g) const
    {
        sched::row_group from = rows.read(g);
        long long scale_row = 0;
        jg_group group;

        if constexpr (decodes)
            scale_row = rows.place == JG_TIGHT
                            ? own.first_scale_atom[g] * (long long)JG_ATOM_ROWS
                            : rows.scale_row(from, g);
        sched::place_group<strided>(job.experts, from, g, scale_row,
                                    u32(own.first_atom[g]), group);
        return group;
    }
    __device__ int tile_rows(const tile &tile) const
    {
        return tile.tile_rows;
    }
    template <int tile_n> __device__ tile find_tile(int i) const
    {
        int g = sched::find_group(own.first_tile, own.count, i);
        int m = rows.read(g).rows, local = i - own.first_tile[g];
        int most = jg_tile_rows(&job.experts.tiling, u32(m));
        int across = ceil_div(m, most);
        int row = local % across * most;
        return {g, row, min(most, m - row), local / across * tile_n, most};
    }
    __device__ handle find_unit(int &unit) const
    {
        int atom = unit / job.experts.tiling.units;
        int g = sched::find_group(own.first_atom, own.count, atom);
        unit -= own.first_atom[g] * job.experts.tiling.units;
        return g;
    }
    __device__ void acquire_map(handle) const
    {
    }
    __device__ void copy_weights(void *to, const tile &tile, int from,
                                 ptx::mbarrier *full) const
    {
        ptx::cp_async_bulk_tensor_3d(to, job.b_map, from, tile.column,
                                     tile.group, full);
    }
    /* By all threads; of the first kernel of a run. */
    __device__ void fill_tail() const
    {
        if (job.zero_tail)
            epilogue::zero_tail<threads>(job.experts, rows, int(blockIdx.x),
                                         int(gridDim.x));
    }
};

template <bool own, bool strided, bool decodes, int threads>
struct choose_groups {
    using type = given_groups<decodes>;
};
template <bool strided, bool decodes, int threads>
struct choose_groups<true, strided, decodes, threads> {
    using type = own_groups<strided, decodes, threads>;
};

/* With `own`, their own. */
template <bool own, bool strided, bool decodes, int threads>
using groups_from =
    typename choose_groups<own, strided, decodes, threads>::type;

} // namespace gemm
