/* SPDX-License-Identifier: MIT */
/* Every block of a cluster copies to some of its blocks, which then are
 * written out whole, bytes between the copies included; then threads exchange
 * words between blocks, and tell of it at a barrier. */
#include "job.h"

#include <base/types.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tma.cuh>

__device__ inline void cluster_sync()
{
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

__device__ inline void copy(const wrapper_job &job,
                            const cluster_record &record, u8 *data,
                            ptx::mbarrier *barrier)
{
    u8 *to = data + record.destination;
    const u8 *map = job.maps + 128 * record.source;

    if (record.kind == COPY_BULK)
        ptx::cp_async_bulk_multicast(to, job.in + record.source, record.bytes,
                                     barrier, u16(record.blocks));
    if (record.kind != COPY_TENSOR)
        return;
    ptx::fence_proxy_tensormap_acquire(map);
    ptx::cp_async_bulk_tensor_2d_multicast(to, map, record.x, record.y,
                                           barrier, u16(record.blocks));
}

/* Thread i of block r has its word from, and puts one to, block r + i. */
__device__ inline u32 exchange(u32 *words, ptx::mbarrier *barrier)
{
    u32 rank = ptx::cluster_ctarank(), count = ptx::cluster_nctarank();
    u32 thread = threadIdx.x, peer = (rank + thread) % count;
    u32 value = *ptx::mapa(words + thread, peer);

    cluster_sync();
    *ptx::mapa(words + thread, peer) = value * 31 + 256 * rank + count;
    ptx::mbarrier_arrive_cluster(barrier, peer);
    while (!ptx::mbarrier_try_wait(barrier, 0))
        continue;
    cluster_sync(); /* for the stores */
    return words[thread];
}

extern "C" __global__ __launch_bounds__(CLUSTER_THREADS) void
wrap_cluster(const wrapper_job job)
{
    const cluster_record &record =
        reinterpret_cast<const cluster_record *>(job.in)[blockIdx.x];
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    u32 *words = reinterpret_cast<u32 *>(memory);
    u32 *out = reinterpret_cast<u32 *>(
        job.out + blockIdx.x * (job.count + 4 * CLUSTER_THREADS));
    auto *barriers = reinterpret_cast<ptx::mbarrier *>(memory + job.count);
    int thread = threadIdx.x;

    for (int i = thread; i < job.count / 4; i += CLUSTER_THREADS)
        words[i] = 0x5a000000 + i;
    ptx::fence_proxy_async();
    if (thread == 0) {
        ptx::mbarrier_init(&barriers[0], 1);
        ptx::mbarrier_init(&barriers[1], CLUSTER_THREADS);
        ptx::fence_mbarrier_init();
    }
    cluster_sync();
    if (thread == 0) {
        ptx::mbarrier_arrive_expect_tx(&barriers[0], record.expected);
        copy(job, record, memory, &barriers[0]);
    }
    while (!ptx::mbarrier_try_wait(&barriers[0], 0))
        continue;
    for (int i = thread; i < job.count / 4; i += CLUSTER_THREADS)
        out[i] = words[i];
    cluster_sync();
    out[job.count / 4 + thread] = exchange(words, &barriers[1]);
    cluster_sync();
}
