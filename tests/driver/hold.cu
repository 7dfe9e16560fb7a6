/* SPDX-License-Identifier: MIT */
/* Writes a word a thread and, if there are flags, stays until it is let go. */
#include "hold_job.h"

/* The emulated device has no clock, and nothing there waits for a flag. */
static __device__ unsigned long long now()
{
    unsigned long long ns = 0;

#ifdef __CUDACC_RTC__
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
#endif
    return ns;
}

extern "C" __global__ void __launch_bounds__(HOLD_THREADS)
    hold(const hold_job job)
{
    unsigned long long start = now();

    job.out[threadIdx.x] = HOLD_VALUE + threadIdx.x;
    if (threadIdx.x || !job.flags)
        return;
    job.flags->started = 1;
    while (!job.flags->go && now() - start < job.most_ns)
        ;
    job.flags->late = !job.flags->go;
}
