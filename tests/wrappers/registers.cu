/* SPDX-License-Identifier: MIT */
/* Two warpgroups take registers from a third and need them: more values than
 * the block was given are alive. */
#include "job.h"

#include <base/types.cuh>
#include <ptx/sync.cuh>

constexpr int most_alive = 200; /* of 240 */

__device__ inline u32 mix(const u32 *in)
{
    u32 values[most_alive];

#pragma unroll
    for (int i = 0; i < most_alive; i++)
        values[i] = in[i] + threadIdx.x;
    for (int round = 0; round < 8; round++) {
#pragma unroll
        for (int i = 0; i < most_alive; i++)
            values[i] = values[i] * 31 + values[(i + 7) % most_alive];
    }
    u32 result = 0;
#pragma unroll
    for (int i = 0; i < most_alive; i++)
        result = result * 17 ^ values[i];
    return result;
}

extern "C" __global__ __launch_bounds__(384, 1) void
wrap_registers(const wrapper_job job)
{
    const u32 *in = reinterpret_cast<const u32 *>(job.in);
    u32 *out = reinterpret_cast<u32 *>(job.out) + blockIdx.x * blockDim.x;
    u32 value;

    if (threadIdx.x < 128) {
        ptx::setmaxnreg_dec<24>();
        value = in[threadIdx.x] * 3;
    } else {
        ptx::setmaxnreg_inc<240>();
        value = mix(in + blockIdx.x);
    }
    out[threadIdx.x] = value;
}
