/* SPDX-License-Identifier: MIT */
/* What all threads of a block bring, made one, by way of words in shared
 * memory. All threads come, and know one `before`. */
#pragma once
#include <base/types.cuh>
#include <ptx/warp.cuh>

namespace sched {

template <int threads> struct team {
    static constexpr int warps = threads / 32;
    static constexpr int words_count = 2 * warps;

    u32 *words; /* [words_count]; 8-byte aligned for scan() */

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

    /* `before` and what the threads before this one bring; the sum of all is
     * added to `before`. */
    __device__ u64 scan(u64 value, u64 &before) const
    {
        u64 *sums = reinterpret_cast<u64 *>(words);
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        u64 upto = value, result = before;
#pragma unroll 1
        for (int i = 1; i < 32; i *= 2) {
            u64 other = u64(ptx::shfl_up(u32(upto >> 32), i)) << 32 |
                        ptx::shfl_up(u32(upto), i);
            upto += lane >= i ? other : 0;
        }
        if (lane == 31)
            sums[warp] = upto;
        __syncthreads();
#pragma unroll 4
        for (int i = 0; i < warps; i++) {
            result += i < warp ? sums[i] : 0;
            before += sums[i];
        }
        __syncthreads();
        return result + upto - value;
    }
};

} // namespace sched
