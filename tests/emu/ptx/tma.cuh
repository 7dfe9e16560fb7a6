/* SPDX-License-Identifier: MIT */
/* Asynchronous bulk copies from global to shared memory. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>

namespace ptx {

inline void cp_async_bulk(void *destination, const void *source, u32 bytes,
                          mbarrier *barrier)
{
    emu::copy_bulk({destination, barrier}, source, bytes);
}

inline void cp_async_bulk_tensor_2d(void *destination, const void *map, int x,
                                    int y, mbarrier *barrier)
{
    const int coordinates[] = {x, y};

    emu::copy_tensor({destination, barrier}, map, coordinates, 2);
}

inline void cp_async_bulk_tensor_3d(void *destination, const void *map, int x,
                                    int y, int z, mbarrier *barrier)
{
    const int coordinates[] = {x, y, z};

    emu::copy_tensor({destination, barrier}, map, coordinates, 3);
}

inline void cp_async_bulk_multicast(void *destination, const void *source,
                                    u32 bytes, mbarrier *barrier, u16 blocks)
{
    emu::copy_bulk({destination, barrier, blocks}, source, bytes);
}

inline void cp_async_bulk_tensor_2d_multicast(void *destination,
                                              const void *map, int x, int y,
                                              mbarrier *barrier, u16 blocks)
{
    const int coordinates[] = {x, y};

    emu::copy_tensor({destination, barrier, blocks}, map, coordinates, 2);
}

inline void cp_async_bulk_commit_group()
{
    emu::copy_commit_group();
}

template <int pending> inline void cp_async_bulk_wait_group_read()
{
    emu::copy_wait_group_read(pending);
}

inline void fence_proxy_tensormap_acquire(const void *map)
{
    emu::fence_proxy_tensormap_acquire(map);
}

} // namespace ptx
