/* SPDX-License-Identifier: MIT */
/* What all threads of a block bring, made one, by way of words in shared
 * memory. All threads come. */
#pragma once
#include <base/types.cuh>
#include <ptx/warp.cuh>

namespace sched {

template <int threads> struct team {
    static constexpr int warps = threads / 32;
    static constexpr int words_count = 2 * warps;

    u32 *words; /* [words_count] */

    /* The least and the most. */
    __device__ void span(u32 &least, u32 &most) const
    {
        int warp = threadIdx.x / 32;
        u32 low = ptx::redux_min(least), high = ~ptx::redux_min(~most);
        if (threadIdx.x % 32 == 0) {
            words[warp] = low;
            words[warps + warp] = high;
        }
        __syncthreads();
        for (int i = 0; i < warps; i++) {
            least = min(least, words[i]);
            most = max(most, words[warps + i]);
        }
        __syncthreads();
    }

    __device__ u32 sum(u32 value) const
    {
        u32 part = ptx::redux_add(value), all = 0;
        if (threadIdx.x % 32 == 0)
            words[threadIdx.x / 32] = part;
        __syncthreads();
        for (int i = 0; i < warps; i++)
            all += words[i];
        __syncthreads();
        return all;
    }
};

} // namespace sched
