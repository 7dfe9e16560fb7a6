/* SPDX-License-Identifier: MIT */
/* Blocks that run together and reach each other's shared memory. PTX ISA
 * 9.7.13.3, 9.7.9.24, 10.
 *
 * A block must not touch another's memory before it knows that the other has
 * begun, as from the first barrier of the cluster, nor end while others may
 * still touch its own. */
#pragma once
#include <base/types.cuh>

namespace ptx {

__device__ inline u32 cluster_ctarank()
{
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ inline u32 cluster_nctarank()
{
    u32 count;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
    return count;
}

/* All threads of the cluster arrive, then wait, except those that have ended.
 * What each did before it arrived is visible to all that have waited. */
__device__ inline void barrier_cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}

__device__ inline void barrier_cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/* The same place in the shared memory of block `rank`: for plain loads and
 * stores, not for other functions of ptx. */
template <class T> __device__ inline T *mapa(T *pointer, u32 rank)
{
    T *mapped;
    asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(pointer), "r"(rank));
    return mapped;
}

} // namespace ptx
