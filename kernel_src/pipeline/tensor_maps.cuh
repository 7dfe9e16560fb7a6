/* SPDX-License-Identifier: MIT */
/* Tensor maps that a kernel makes to fit a group: copies of templates, edited
 * in global memory. */
#pragma once
#include <base/group.h>
#include <base/types.cuh>
#include <ptx/tensormap.cuh>
#include <ptx/tma.cuh>

namespace pipeline {

constexpr int map_bytes = 128;

__device__ inline void copy_maps(u8 *to, const u8 *from)
{
    for (int i = 0; i < 2 * map_bytes; i += 16)
        *reinterpret_cast<uint4 *>(to + i) =
            *reinterpret_cast<const uint4 *>(from + i);
}

__device__ inline void edit_map(u8 *map, const u8 *address, int rows, int k,
                                u64 row_bytes)
{
    ptx::tensormap_replace_global_address(map, address);
    ptx::tensormap_replace_global_dim<0>(map, u32(k / 2));
    ptx::tensormap_replace_global_dim<1>(map, u32(rows));
    ptx::tensormap_replace_global_stride<0>(map, row_bytes);
}

/* Activations', then weights'. All copies with them must have landed. */
template <bool strided>
__device__ inline void edit_maps(u8 *maps, const jg_group &group)
{
    edit_map(maps, group.a, group.m, group.k,
             strided ? u64(group.row_a) : u64(group.k / 2));
    edit_map(maps + map_bytes, group.b, group.n, group.k, u64(group.k / 2));
    ptx::fence_proxy_tensormap_release();
}

/* Of what lies at that address and is as wide as the template's. To be
 * released. */
__device__ inline void make_map(u8 *map, const u64 (&from)[map_bytes / 8],
                                const u8 *address, int rows)
{
    for (int i = 0; i < map_bytes / 8; i++)
        reinterpret_cast<u64 *>(map)[i] = from[i];
    ptx::tensormap_replace_global_address(map, address);
    ptx::tensormap_replace_global_dim<1>(map, u32(rows));
}

} // namespace pipeline
