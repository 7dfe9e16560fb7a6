/* SPDX-License-Identifier: MIT */
/* Two groups of warps hash each other's values round after round, each with
 * a named barrier of its own; some warps come late. */
#include "job.h"

#include <base/types.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>

extern "C" __global__ __launch_bounds__(SYNC_THREADS) void
wrap_sync(const wrapper_job job)
{
    const sync_round *rounds = reinterpret_cast<const sync_round *>(job.in) +
                               blockIdx.x * SYNC_ROUNDS;
    u32 *values = reinterpret_cast<u32 *>(ptx::dynamic_smem());
    u32 *out = reinterpret_cast<u32 *>(job.out) +
               blockIdx.x * SYNC_ROUNDS * SYNC_THREADS;
    u32 thread = threadIdx.x, threads = SYNC_THREADS, value = thread;

    values[thread] = ptx::elect_one();
    __syncthreads();
    for (int j = 0; j < 32; j++) /* one of the warp */
        value += values[thread / 32 * 32 + j];
    __syncthreads();
    for (int i = 0; i < SYNC_ROUNDS; i++) {
        const sync_round &round = rounds[i];
        bool low = thread / 32 < round.warps;
        u32 first = low ? 0 : 32 * round.warps;
        u32 end = low ? 32 * round.warps : threads;
        u32 id = low ? round.low : round.high;

        for (u32 j = 0; j < round.delay[thread / 32]; j++)
            value = value * 1664525 + 1013904223;
        values[thread] = value;
        ptx::bar_sync(id, end - first);
        for (u32 j = first; j < end; j++)
            value = value * 31 + values[j];
        ptx::bar_sync(id, end - first);
        out[i * threads + thread] = value;
        __syncthreads(); /* the groups change */
    }
}
