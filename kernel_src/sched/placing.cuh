/* SPDX-License-Identifier: MIT */
/* What a group of experts takes of the table, and where its operands are. */
#pragma once
#include <base/experts.h>
#include <base/types.cuh>
#include <sched/row_groups.cuh>

namespace sched {

constexpr int token_atom = 8;
constexpr int unit_bytes = 1024; /* of decoded activations */

/* Tiles, and atoms of 8 tokens. */
struct extent {
    u32 tiles, atoms;
};

__device__ inline extent extent_of(const jg_tiling &tiling, int rows)
{
    if (!rows)
        return {0, 0};
    return {u32(ceil_div(rows, jg_tile_rows(&tiling, u32(rows)))) *
                u32(tiling.across),
            (u32(rows) + token_atom - 1) / token_atom};
}

/* All of a group but its map; `atoms` are those of the groups before. */
template <bool strided>
__device__ inline void place_group(const jg_experts &experts,
                                   const row_group &from, int g,
                                   long long scale_row, u32 atoms,
                                   jg_group &group)
{
    u32 units = atoms * u32(experts.tiling.units);
    long long row_bytes_c = strided ? experts.row_bytes_c : experts.row_c;

    group.a = experts.a + from.first * experts.row_a;
    group.sfa = experts.sfa + scale_row / JG_ATOM_ROWS *
                                  (ceil_div(experts.k, JG_ATOM_K) *
                                   JG_ATOM_BYTES);
    group.b = experts.b + g * experts.stride_b;
    group.sfb = experts.sfb + g * experts.stride_sfb;
    group.c =
        reinterpret_cast<u16 *>(experts.c + from.first * experts.row_c);
    group.alpha = experts.alpha ? experts.alpha + g : nullptr;
    group.bias = experts.bias ? experts.bias + g * row_bytes_c : nullptr;
    group.activations = u64(units) * unit_bytes;
    group.m = from.rows;
    group.n = experts.n;
    group.k = experts.k;
    if constexpr (strided) {
        group.row_a = experts.row_a;
        group.row_c = experts.row_c;
    }
    group.chunks = experts.tiling.chunks;
    group.tile_rows = jg_tile_rows(&experts.tiling, u32(from.rows));
}

} // namespace sched
