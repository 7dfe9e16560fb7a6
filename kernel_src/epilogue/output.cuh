/* SPDX-License-Identifier: MIT */
/* The types of C: rounding to one, and the 16 bytes that are stored at once.
 */
#pragma once
#include <base/group.h>
#include <base/types.cuh>
#include <ptx/half.cuh>

namespace epilogue {

template <int type> constexpr int element_bytes = type == JG_F32 ? 4 : 2;
template <int type> constexpr int unit = 16 / element_bytes<type>;

/* Two elements of 16 bits. */
template <int type> __device__ inline u32 pair(float high, float low)
{
    if constexpr (type == JG_BF16)
        return ptx::cvt_bf16x2_f32(high, low);
    else
        return ptx::cvt_f16x2_f32(high, low);
}

/* One unit of alpha * d. */
template <int type> __device__ inline uint4 pack(const float *d, float alpha)
{
    if constexpr (type == JG_F32)
        return {__float_as_uint(d[0] * alpha), __float_as_uint(d[1] * alpha),
                __float_as_uint(d[2] * alpha), __float_as_uint(d[3] * alpha)};
    else
        return {pair<type>(d[1] * alpha, d[0] * alpha),
                pair<type>(d[3] * alpha, d[2] * alpha),
                pair<type>(d[5] * alpha, d[4] * alpha),
                pair<type>(d[7] * alpha, d[6] * alpha)};
}

} // namespace epilogue
