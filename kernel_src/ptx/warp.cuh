/* SPDX-License-Identifier: MIT */
/* What all lanes of a warp bring, made one. PTX ISA 9.7.13 (redux.sync). */
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

} // namespace ptx
