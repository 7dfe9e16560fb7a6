/* SPDX-License-Identifier: MIT */
/* What the lanes of a warp bring, to all or to others. PTX ISA 9.7.13
 * (redux.sync), 9.7.9.6 (shfl.sync). */
#pragma once
#include <base/types.cuh>

namespace ptx {

__device__ inline u32 redux_min(u32 value)
{
    u32 d;
    asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;"
                 : "=r"(d)
                 : "r"(value));
    return d;
}

__device__ inline u32 redux_add(u32 value)
{
    u32 d;
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;"
                 : "=r"(d)
                 : "r"(value));
    return d;
}

/* That of the lane `distance` below; the first lanes keep their own. */
__device__ inline u32 shfl_up(u32 value, u32 distance)
{
    u32 d;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
                 : "=r"(d)
                 : "r"(value), "r"(distance));
    return d;
}

} // namespace ptx
