/* SPDX-License-Identifier: MIT */
/* A few copies a block into shared memory, which then is written out whole,
 * bytes between the copies included: `count` a block. */
#include "job.h"

#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tma.cuh>

__device__ inline void copy(const wrapper_job &job, const copy_record &record,
                            u8 *data, ptx::mbarrier *barrier)
{
    u8 *to = data + record.destination;
    const u8 *map = job.maps + 128 * record.source;

    if (record.kind == COPY_BULK)
        ptx::cp_async_bulk(to, job.in + record.source, record.bytes, barrier);
    if (record.kind != COPY_TENSOR && record.kind != COPY_TENSOR_3D)
        return;
    ptx::fence_proxy_tensormap_acquire(map);
    if (record.kind == COPY_TENSOR)
        ptx::cp_async_bulk_tensor_2d(to, map, record.x, record.y, barrier);
    else
        ptx::cp_async_bulk_tensor_3d(to, map, record.x, record.y, record.z,
                                     barrier);
}

extern "C" __global__ void wrap_copies(const wrapper_job job)
{
    const copy_record *records =
        reinterpret_cast<const copy_record *>(job.in) + COPIES * blockIdx.x;
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    u32 *words = reinterpret_cast<u32 *>(memory);
    u32 *out = reinterpret_cast<u32 *>(job.out + blockIdx.x * job.count);
    auto *barrier = reinterpret_cast<ptx::mbarrier *>(memory + job.count);

    for (int i = threadIdx.x; i < job.count / 4; i += blockDim.x)
        words[i] = 0x5a000000 + i;
    ptx::fence_proxy_async();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(barrier, 1);
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(
            barrier, records[0].bytes + records[1].bytes + records[2].bytes);
        for (int i = 0; i < COPIES; i++)
            copy(job, records[i], memory, barrier);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read<0>();
    }
    while (!ptx::mbarrier_try_wait(barrier, 0))
        continue;
    for (int i = threadIdx.x; i < job.count / 4; i += blockDim.x)
        out[i] = words[i];
}
