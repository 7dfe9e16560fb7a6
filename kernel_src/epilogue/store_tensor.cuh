/* SPDX-License-Identifier: MIT */
/* Accumulators in tensor memory to row-major C, by the four warps that reach
 * all lanes. Lanes are the rows of C (store_rows) or its columns, when
 * operands are swapped (store_columns). Both call `done` once they have read
 * the last accumulator. With `accumulate` they add what C has, in f32. */
#pragma once
#include <base/types.cuh>
#include <epilogue/output.cuh>
#include <mma/tcgen05_tile.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>

namespace epilogue {

constexpr int tensor_lanes = 128; /* and threads */
constexpr int pass_weights = 32;  /* that store_rows takes at a time */
constexpr int pass_tokens = 8;    /* and store_columns */

/* What store_columns stages: nothing is rounded before all is added up. */
template <int type, bool accumulate>
constexpr int staged_type = accumulate ? JG_F32 : type;
template <int type, bool accumulate>
constexpr int columns_staging_bytes =
    pass_tokens * tensor_lanes * element_bytes<staged_type<type, accumulate>>;

/* The tile's part of C. */
struct tensor_destination {
    u8 *c;  /* of the first token and weight row */
    int ld; /* elements from token to token */
    int tokens, weights;
    const u8 *bias; /* of the first weight row, or null */
};

template <int type, bool accumulate>
__device__ inline void store_unit(u8 *c, float *d)
{
    if constexpr (accumulate)
        reinterpret_cast<const elements<type, unit<type>> *>(c)->add_to(d);
    *reinterpret_cast<uint4 *>(c) = pack<type>(d);
}

/* A thread's lane is a token, whose row it stores 16 bytes at a time. */
template <int type, bool accumulate, class function>
__device__ inline void store_rows(u32 accumulator, float alpha,
                                  tensor_destination to, function done)
{
    constexpr int bytes = element_bytes<type>;
    int token = threadIdx.x % tensor_lanes;
    u32 address = mma::tensor_address(accumulator, token / 32 * 32, 0);
    u8 *row = to.c + size_t(token) * to.ld * bytes;

    for (int first = 0; first < to.weights; first += pass_weights) {
        float d[pass_weights];
        ptx::tcgen05_ld_32x32b_x32(d, address + first);
        ptx::tcgen05_wait_ld();
        if (first + pass_weights >= to.weights)
            done();
        /* All threads read the same, if anything. */
#pragma unroll
        for (int i = 0; i < pass_weights; i++)
            d[i] = d[i] * alpha +
                   bias_at<type>(to.bias, first + i, to.weights);
#pragma unroll
        for (int i = 0; i < pass_weights; i += unit<type>)
            if (token < to.tokens && first + i < to.weights)
                store_unit<type, accumulate>(row + (first + i) * bytes, d + i);
    }
}

/* A thread's lane is a weight row; eight tokens at a time change places in
 * shared memory, so that a token's 128 columns leave as whole lines. */
template <int type, bool accumulate, class function>
__device__ inline void store_columns(u32 accumulator, float alpha,
                                     tensor_destination to, u8 *staging,
                                     u32 barrier, function done)
{
    constexpr int bytes = element_bytes<type>;
    constexpr int kept = staged_type<type, accumulate>;
    constexpr int units = tensor_lanes / unit<type>; /* of a token */
    int lane = threadIdx.x % tensor_lanes;
    u32 address = mma::tensor_address(accumulator, lane / 32 * 32, 0);
    float bias = bias_at<type>(to.bias, lane, to.weights);

    for (int first = 0; first < to.tokens; first += pass_tokens) {
        float d[pass_tokens];
        ptx::tcgen05_ld_32x32b_x8(d, address + first);
        ptx::tcgen05_wait_ld();
        if (first + pass_tokens >= to.tokens)
            done();
#pragma unroll
        for (int i = 0; i < pass_tokens; i++) {
            u8 *at =
                staging + (i * tensor_lanes + lane) * element_bytes<kept>;
            if constexpr (kept == JG_F32)
                *reinterpret_cast<float *>(at) = d[i] * alpha + bias;
            else
                *reinterpret_cast<u16 *>(at) =
                    u16(pair<type>(0, d[i] * alpha + bias));
        }
        ptx::bar_sync(barrier, tensor_lanes);
#pragma unroll
        for (int i = lane; i < pass_tokens * units; i += tensor_lanes) {
            int token = first + i / units, weight = i % units * unit<type>;
            if (token < to.tokens && weight < to.weights) {
                u8 *c = to.c + (size_t(token) * to.ld + weight) * bytes;
                if constexpr (accumulate)
                    store_unit<type, true>(
                        c, reinterpret_cast<float *>(staging) +
                               i * unit<type>);
                else
                    *reinterpret_cast<uint4 *>(c) =
                        *reinterpret_cast<uint4 *>(staging + i * 16);
            }
        }
        ptx::bar_sync(barrier, tensor_lanes);
    }
}

} // namespace epilogue
