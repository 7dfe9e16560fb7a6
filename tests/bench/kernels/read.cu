/* SPDX-License-Identifier: MIT */
/* Reads `count` times 16 bytes; `out` gets the sum of each thread's words. */
#include "job.h"

extern "C" __global__ void __launch_bounds__(BENCH_THREADS)
    bench_read(const bench_job job)
{
    const uint4 *in = reinterpret_cast<const uint4 *>(job.in);
    long long threads = (long long)gridDim.x * blockDim.x;
    long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;

#pragma unroll 8
    for (long long i = thread; i < job.count; i += threads) {
        uint4 words = in[i];

        sum += words.x + words.y + words.z + words.w;
    }
    static_cast<unsigned *>(job.out)[thread] = sum;
}
