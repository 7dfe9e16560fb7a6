/* SPDX-License-Identifier: MIT */
/* NVFP4 of `count` bytes, rows of k values, to 16-bit elements: table[16 *
 * scale + code] is what a code is worth. */
#include "job.h"

extern "C" __global__ void __launch_bounds__(BENCH_THREADS)
    bench_widen(const bench_job job)
{
    unsigned short *out = static_cast<unsigned short *>(job.out);
    long long threads = (long long)gridDim.x * blockDim.x;
    long long tiles_along_k = (job.k + 63) / 64;

    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < job.count; i += threads) {
        long long row = 2 * i / job.k, block = 2 * i % job.k / 16;
        long long tile = row / 128 * tiles_along_k + block / 4;
        long long place = row % 32 * 16 + row / 32 % 4 * 4 + block % 4;
        const unsigned short *worth =
            job.table + 16 * job.scales[tile * 512 + place];
        unsigned codes = job.in[i];

        out[2 * i] = worth[codes & 15];
        out[2 * i + 1] = worth[codes >> 4];
    }
}
