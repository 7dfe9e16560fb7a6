/* SPDX-License-Identifier: MIT */
/* Asynchronous bulk copies from global to shared memory; each counts its
 * bytes on a barrier. PTX ISA 9.7.9.25 and 9.7.9.27. */
#pragma once
#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>

namespace ptx {

/* Contiguous; addresses and size are multiples of 16 bytes. */
__device__ inline void cp_async_bulk(void *destination, const void *source,
                                     u32 bytes, mbarrier *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier"
                 "::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(destination)),
                 "l"(source), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* A box of a two-dimensional tensor map at (x, y); x runs along memory. All
 * the bytes of the box are counted, also those outside the tensor (zeros). */
__device__ inline void cp_async_bulk_tensor_2d(void *destination,
                                               const void *map, int x, int y,
                                               mbarrier *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier"
                 "::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                     shared_address(destination)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
                 : "memory");
}

/* The same for all blocks of the cluster whose rank is a bit of `blocks`: the
 * bytes go to the same place in each, and are counted on the barrier at the
 * same place in each. */
__device__ inline void cp_async_bulk_multicast(void *destination,
                                               const void *source, u32 bytes,
                                               mbarrier *barrier, u16 blocks)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"
                 "::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                     shared_address(destination)),
                 "l"(source), "r"(bytes), "r"(shared_address(barrier)),
                 "h"(blocks)
                 : "memory");
}

__device__ inline void
cp_async_bulk_tensor_2d_multicast(void *destination, const void *map, int x,
                                  int y, mbarrier *barrier, u16 blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier"
                 "::complete_tx::bytes.multicast::cluster [%0], "
                 "[%1, {%2, %3}], [%4], %5;" ::"r"(
                     shared_address(destination)),
                 "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)),
                 "h"(blocks)
                 : "memory");
}

/* A box of a three-dimensional one at (x, y, z), to this block. */
__device__ inline void cp_async_bulk_tensor_3d(void *destination,
                                               const void *map, int x, int y,
                                               int z, mbarrier *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier"
                 "::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
                     shared_address(destination)),
                 "l"(map), "r"(x), "r"(y), "r"(z),
                 "r"(shared_address(barrier))
                 : "memory");
}

/* This thread's copies since the last call become a group. */
__device__ inline void cp_async_bulk_commit_group()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until at most `pending` groups of this thread still read their
 * sources or their tensor maps. Says nothing of what they write. */
template <int pending> __device__ inline void cp_async_bulk_wait_group_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending)
                 : "memory");
}

/* Needed before the first use of a tensor map that lies in global memory:
 * its address may have held another map in an earlier launch. */
__device__ inline void fence_proxy_tensormap_acquire(const void *map)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(
                     map)
                 : "memory");
}

} // namespace ptx
