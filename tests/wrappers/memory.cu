/* SPDX-License-Identifier: MIT */
/* Shared memory: all of it, what addresses differ by, and matrix stores. */
#include "job.h"

#include <base/types.cuh>
#include <ptx/memory.cuh>

/* `count` bytes through shared memory, in reverse; then, a word a thread, how
 * far a byte of it is from its start, which is a multiple of 16. */
__device__ inline void all_bytes(const wrapper_job &job)
{
    u8 *memory = ptx::dynamic_smem();
    int thread = threadIdx.x, threads = blockDim.x;
    u32 start = ptx::shared_address(memory);
    int at = int(u64(thread) * job.count / threads);

    for (int i = thread; i < job.count; i += threads)
        memory[i] = job.in[i];
    __syncthreads();
    for (int i = thread; i < job.count; i += threads)
        job.out[i] = memory[job.count - 1 - i];
    reinterpret_cast<u32 *>(job.out + job.count)[thread] =
        ptx::shared_address(memory + at) - start + start % 16;
}

/* A kilobyte of shared memory a warp, a store into it, and all of it. */
__device__ inline void matrices(const wrapper_job &job)
{
    int thread = threadIdx.x, whole = blockIdx.x * blockDim.x + thread;
    u8 *memory = ptx::dynamic_smem() + thread / 32 * 1024;
    const stmatrix_lane &lane =
        reinterpret_cast<const stmatrix_lane *>(job.in)[whole];
    u32 *words = reinterpret_cast<u32 *>(ptx::dynamic_smem());
    u32 *out = reinterpret_cast<u32 *>(job.out) + whole / 32 * 256;

    for (int i = 0; i < 8; i++)
        words[thread + blockDim.x * i] = 0xa5a5a5a5;
    __syncthreads();
    ptx::stmatrix_x2_trans(memory + lane.place, lane.first, lane.second);
    __syncthreads();
    words = reinterpret_cast<u32 *>(memory);
    for (int i = thread % 32; i < 256; i += 32)
        out[i] = words[i];
}

extern "C" __global__ void wrap_memory(const wrapper_job job)
{
    if (job.what == MEMORY_BYTES)
        all_bytes(job);
    else
        matrices(job);
}
