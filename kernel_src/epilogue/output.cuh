/* SPDX-License-Identifier: MIT */
/* The types of C: rounding to one, and the 16 bytes that are stored at once;
 * and of the bias, which has the same. */
#pragma once
#include <base/group.h>
#include <base/types.cuh>
#include <ptx/float.cuh>
#include <ptx/half.cuh>

namespace epilogue {

template <int type> constexpr int element_bytes = type == JG_F32 ? 4 : 2;
template <int type> constexpr int unit = 16 / element_bytes<type>;

/* From row to row of C. */
template <int type, bool strided>
__device__ inline int row_elements(const jg_group &group)
{
    return strided ? int(group.row_c / element_bytes<type>) : group.n;
}

/* Two elements of 16 bits. */
template <int type> __device__ inline u32 pair(float high, float low)
{
    if constexpr (type == JG_BF16)
        return ptx::cvt_bf16x2_f32(high, low);
    else
        return ptx::cvt_f16x2_f32(high, low);
}

/* One unit. */
template <int type> __device__ inline uint4 pack(const float *d)
{
    if constexpr (type == JG_F32)
        return {__float_as_uint(d[0]), __float_as_uint(d[1]),
                __float_as_uint(d[2]), __float_as_uint(d[3])};
    else
        return {pair<type>(d[1], d[0]), pair<type>(d[3], d[2]),
                pair<type>(d[5], d[4]), pair<type>(d[7], d[6])};
}

/* The value of 16 bits. */
template <int type> __device__ inline float widen(u32 bits)
{
    return type == JG_BF16 ? __uint_as_float(bits << 16)
                           : ptx::cvt_f32_f16(bits);
}

/* Elements as they lie in C, aligned as many as they are. */
template <int type, int count>
struct alignas(count * element_bytes<type>) elements {
    u32 words[count * element_bytes<type> / 4];

    __device__ void round(const float *d)
    {
#pragma unroll
        for (int i = 0; i < int(sizeof words / 4); i++)
            if constexpr (type == JG_F32)
                words[i] = __float_as_uint(d[i]);
            else
                words[i] = pair<type>(d[2 * i + 1], d[2 * i]);
    }
    __device__ void add_to(float *d) const
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            if constexpr (type == JG_F32)
                d[i] += __uint_as_float(words[i]);
            else
                d[i] += widen<type>(words[i / 2] >> i % 2 * 16 & 0xffff);
    }
};

/* Element i of a bias of `count`, or what changes no sum, not even the sign of
 * a zero. */
template <int type>
__device__ inline float bias_at(const u8 *bias, int i, int count)
{
    if (!bias || i >= count)
        return -0.0f;
    if constexpr (type == JG_F32)
        return reinterpret_cast<const float *>(bias)[i];
    return widen<type>(reinterpret_cast<const u16 *>(bias)[i]);
}

} // namespace epilogue
