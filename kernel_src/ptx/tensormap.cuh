/* SPDX-License-Identifier: MIT */
/* Tensor maps that a kernel rewrites in global memory. PTX ISA 9.7.9.26, and
 * 9.7.13.4 for the fences.
 *
 * The thread that edits a map must know that its copies no longer read it. It
 * then releases the edits; before its next copy a thread acquires the map
 * with fence_proxy_tensormap_acquire() of ptx/tma.cuh. */
#pragma once
#include <base/types.cuh>

namespace ptx {

__device__ inline void tensormap_replace_global_address(void *map,
                                                        const void *address)
{
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 "
                 "[%0], %1;" ::"l"(__cvta_generic_to_global(map)),
                 "l"(address)
                 : "memory");
}

/* Elements along a dimension; 0 is the one along memory. */
template <int dimension>
__device__ inline void tensormap_replace_global_dim(void *map, u32 extent)
{
    asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 "
                 "[%0], %1, %2;" ::"l"(__cvta_generic_to_global(map)),
                 "n"(dimension), "r"(extent)
                 : "memory");
}

/* Bytes from one index of dimension `dimension` + 1 to the next: a multiple
 * of 16. */
template <int dimension>
__device__ inline void tensormap_replace_global_stride(void *map, u64 bytes)
{
    asm volatile("tensormap.replace.tile.global_stride.global.b1024.b64 "
                 "[%0], %1, %2;" ::"l"(__cvta_generic_to_global(map)),
                 "n"(dimension), "l"(bytes)
                 : "memory");
}

/* Ends this thread's edits of maps. */
__device__ inline void fence_proxy_tensormap_release()
{
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}

/* A hint. The map must be one that the thread may use. */
__device__ inline void prefetch_tensormap(const void *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

} // namespace ptx
