/* SPDX-License-Identifier: MIT */
/* A barrier goes through a script of arrivals and copies, one a block. After
 * each step a thread tells what both parities say: until the phase has ended
 * for sure they must say that it has not. Then what the copies brought. */
#include "job.h"

#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tma.cuh>

__device__ inline void arrive(const wrapper_job &job, const barrier_step &step,
                              u8 *data, ptx::mbarrier *barrier)
{
    if (threadIdx.x - step.first >= step.arrivals)
        return;
    if (threadIdx.x != step.first || !step.bytes) {
        ptx::mbarrier_arrive(barrier);
        return;
    }
    if (!step.early)
        ptx::mbarrier_arrive_expect_tx(barrier, step.bytes);
    ptx::cp_async_bulk(data + step.destination, job.in + step.source,
                       step.bytes, barrier);
    if (step.early)
        ptx::mbarrier_arrive_expect_tx(barrier, step.bytes);
}

__device__ inline void run_step(const wrapper_job &job,
                                const barrier_step &step, u8 *data,
                                ptx::mbarrier *barrier, u32 *seen)
{
    arrive(job, step, data, barrier);
    while (step.ends && !ptx::mbarrier_try_wait(barrier, step.parity))
        continue;
    __syncthreads();
    if (threadIdx.x == step.observer) {
        u32 even = ptx::mbarrier_try_wait(barrier, 0);
        u32 odd = ptx::mbarrier_try_wait(barrier, 1);

        *seen = 0x100 | odd << 1 | even;
    }
    __syncthreads();
}

extern "C" __global__ __launch_bounds__(BARRIER_THREADS) void
wrap_barrier(const wrapper_job job)
{
    const barrier_script &script =
        reinterpret_cast<const barrier_script *>(job.in)[blockIdx.x];
    u8 *memory = ptx::dynamic_smem();
    u8 *data = memory + 128, *out = job.out + blockIdx.x * job.count;
    auto *barrier = reinterpret_cast<ptx::mbarrier *>(memory) +
                    blockIdx.x % 16; /* any multiple of 8 */

    for (int i = threadIdx.x; i < BARRIER_DATA; i += BARRIER_THREADS)
        data[i] = 0xa5;
    ptx::fence_proxy_async();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(barrier, script.count);
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
    for (int i = 0; i < BARRIER_STEPS; i++)
        run_step(job, script.steps[i], data, barrier,
                 reinterpret_cast<u32 *>(out) + i);
    for (int i = threadIdx.x; i < BARRIER_DATA; i += BARRIER_THREADS)
        out[BARRIER_STEPS * 4 + i] = data[i];
}
