/* SPDX-License-Identifier: MIT */
/* The first of two launches: the second may start, and only then, late, its
 * input is written. */
#include "job.h"

#include <base/types.cuh>
#include <ptx/sync.cuh>

extern "C" __global__ void wrap_first(const wrapper_job job)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 value = reinterpret_cast<const u32 *>(job.in)[i];

    ptx::griddepcontrol_launch_dependents();
    for (int j = 0; j < job.count; j++)
        value = value * 1664525 + 1013904223;
    reinterpret_cast<u32 *>(job.out)[i] = value;
}
