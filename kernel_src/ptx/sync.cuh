/* SPDX-License-Identifier: MIT */
/* Barriers between threads, register shares of a warpgroup, and the order of
 * dependent launches. PTX ISA 9.7.13.1, 9.7.20, 9.7.14. */
#pragma once
#include <base/types.cuh>

namespace ptx {

/* All `threads` that name the barrier `id` (1 to 15; 0 is __syncthreads). */
__device__ inline void bar_sync(u32 id, u32 threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* True for one lane of the warp, always the same. All lanes must come. */
__device__ inline bool elect_one()
{
    u32 elected;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "elect.sync _|p, 0xffffffff;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(elected)::"memory");
    return elected;
}

/* Orders this thread's ordinary accesses to shared memory before later ones of
 * the asynchronous proxy. */
__device__ inline void fence_proxy_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

template <int registers> __device__ inline void setmaxnreg_inc()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers> __device__ inline void setmaxnreg_dec()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

/* Waits until the launches this one depends on have ended and their writes
 * are visible. */
__device__ inline void griddepcontrol_wait()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

/* Lets a dependent launch start; says nothing of this one's writes. */
__device__ inline void griddepcontrol_launch_dependents()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

} // namespace ptx
