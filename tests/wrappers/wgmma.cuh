/* SPDX-License-Identifier: MIT */
/* Six products on one accumulator, in three groups: the registers of the
 * first are used again by the third as soon as the first is done. B is
 * wherever its descriptor says in shared memory full of numbers. */
#pragma once
#include "job.h"

#include <base/types.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/wgmma.cuh>

__device__ inline void load_a(u32 (&a)[4], const unsigned (&from)[4])
{
    for (int i = 0; i < 4; i++)
        a[i] = from[i];
}

template <bool bf16, int accumulators>
__device__ inline void add(float (&d)[accumulators], const u32 (&a)[4], u64 b)
{
    if constexpr (bf16)
        ptx::wgmma_mma_async_bf16(d, a, b);
    else
        ptx::wgmma_mma_async(d, a, b);
}

template <int n, bool bf16>
__device__ inline void multiply(float (&d)[n / 2],
                                const wgmma_operands &operands, u64 base)
{
    int thread = threadIdx.x;
    u32 a[4][4];

#pragma unroll
    for (int i = 0; i < 4; i++)
        load_a(a[i], operands.a[i][thread]);
    ptx::wgmma_fence();
    add<bf16>(d, a[0], operands.b[0] + base);
    add<bf16>(d, a[1], operands.b[1] + base);
    ptx::wgmma_commit_group();
    add<bf16>(d, a[2], operands.b[2] + base);
    add<bf16>(d, a[3], operands.b[3] + base);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
    load_a(a[0], operands.a[4][thread]);
    load_a(a[1], operands.a[5][thread]);
    ptx::wgmma_fence();
    add<bf16>(d, a[0], operands.b[4] + base);
    add<bf16>(d, a[1], operands.b[5] + base);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
}

template <int n> __device__ inline void products(const wrapper_job &job)
{
    constexpr int d_bytes = WGMMA_THREADS * n / 2 * sizeof(float);
    int thread = threadIdx.x, block = blockIdx.x;
    const u8 *in = job.in + size_t(block) *
                                (sizeof(wgmma_operands) + d_bytes + job.count);
    const float *before =
        reinterpret_cast<const float *>(in + sizeof(wgmma_operands)) +
        thread * n / 2;
    float *after =
        reinterpret_cast<float *>(job.out + size_t(block) * d_bytes) +
        thread * n / 2;
    const uint4 *image =
        reinterpret_cast<const uint4 *>(in + sizeof(wgmma_operands) + d_bytes);
    u8 *memory = ptx::dynamic_smem();
    float d[n / 2];

    memory += -ptx::shared_address(memory) & 1023;
    for (int i = thread; i < job.count / 16; i += WGMMA_THREADS)
        reinterpret_cast<uint4 *>(memory)[i] = image[i];
    ptx::fence_proxy_async();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < n / 2; i++)
        d[i] = before[i];
    const wgmma_operands &operands =
        *reinterpret_cast<const wgmma_operands *>(in);
    if (job.what == WGMMA_OF_BF16)
        multiply<n, true>(d, operands, ptx::shared_address(memory) >> 4);
    else
        multiply<n, false>(d, operands, ptx::shared_address(memory) >> 4);
#pragma unroll
    for (int i = 0; i < n / 2; i++)
        after[i] = d[i];
}

#define WRAP_WGMMA(n)                                                         \
    extern "C" __global__ __launch_bounds__(WGMMA_THREADS) void               \
        wrap_wgmma_##n(const wrapper_job job)                                 \
    {                                                                         \
        products<n>(job);                                                     \
    }
