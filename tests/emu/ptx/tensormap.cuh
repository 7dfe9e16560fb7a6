/* SPDX-License-Identifier: MIT */
/* Tensor maps that a kernel rewrites in global memory. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>

namespace ptx {

inline void tensormap_replace_global_address(void *map, const void *address)
{
    emu::tensormap_replace_address(map, address);
}

template <int dimension>
inline void tensormap_replace_global_dim(void *map, u32 extent)
{
    emu::tensormap_replace_extent(map, dimension, extent);
}

template <int dimension>
inline void tensormap_replace_global_stride(void *map, u64 bytes)
{
    emu::tensormap_replace_stride(map, dimension, bytes);
}

inline void fence_proxy_tensormap_release()
{
    emu::fence_proxy_tensormap_release();
}

inline void prefetch_tensormap(const void *map)
{
    emu::prefetch_tensormap(map);
}

} // namespace ptx
