/* SPDX-License-Identifier: MIT */
/* Rows of experts back to tokens: each row of the output is a weighted sum of
 * a few of x, in f32, in the order of their numbers.
 *
 * A warp does 256 elements of a row at a time. Memory-bound: it has the loads
 * of several rows of x under way. */
#include <base/conversion.h>
#include <base/group.h>
#include <base/types.cuh>
#include <ptx/float.cuh>
#include <ptx/sync.cuh>
#include <quant/elements.cuh>
#include <sched/row_groups.cuh>
#include <spec.cuh>

constexpr int warps = spec::threads / 32;
constexpr int lane_k = 8;
constexpr int ahead = 4;


/* lane_k elements of a type. */
template <int type> struct elements {
    uint4 words;

    __device__ void load(const u8 *from)
    {
        words = *reinterpret_cast<const uint4 *>(from);
    }

    __device__ void add_to(float *sums, float weight) const
    {
        using pair = quant::pair<type == JG_BF16>;
        const u32 all[] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float &low = sums[2 * i], &high = sums[2 * i + 1];
            low = ptx::fma_f32(weight, pair::low(all[i]), low);
            high = ptx::fma_f32(weight, pair::high(all[i]), high);
        }
    }
};

template <> struct elements<JG_F32> {
    uint4 words[2];

    __device__ void load(const u8 *from)
    {
        words[0] = reinterpret_cast<const uint4 *>(from)[0];
        words[1] = reinterpret_cast<const uint4 *>(from)[1];
    }

    __device__ void add_to(float *sums, float weight) const
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const u32 all[] = {words[i].x, words[i].y, words[i].z, words[i].w};
#pragma unroll
            for (int j = 0; j < 4; j++)
                sums[4 * i + j] = ptx::fma_f32(
                    weight, __uint_as_float(all[j]), sums[4 * i + j]);
        }
    }
};

__device__ inline uint4 bits(const float *x)
{
    return {__float_as_uint(x[0]), __float_as_uint(x[1]),
            __float_as_uint(x[2]), __float_as_uint(x[3])};
}

__device__ inline void store(u8 *to, const float *sums)
{
    using pair = quant::pair<spec::c_type == JG_BF16>;
    uint4 *at = reinterpret_cast<uint4 *>(to);
    if (spec::c_type == JG_F32) {
        at[0] = bits(sums);
        at[1] = bits(sums + 4);
    } else
        at[0] = uint4{pair::of(sums[0], sums[1]), pair::of(sums[2], sums[3]),
                      pair::of(sums[4], sums[5]), pair::of(sums[6], sums[7])};
}

/* lane_k elements of a row, from the first-th on. */
__device__ inline void combine_row(const jg_conversion_job &job, long long row,
                                   int first)
{
    constexpr int x_size = spec::x_type == JG_F32 ? 4 : 2;
    constexpr int c_size = spec::c_type == JG_F32 ? 4 : 2;
    const int *rows = job.gather + row * job.top_k;
    const float *weights = job.scale ? job.scale + row * job.top_k : nullptr;
    const u8 *x = job.x + (long long)first * x_size;
    float sums[lane_k] = {};

#pragma unroll 1
    for (int j = 0; j < job.top_k; j += ahead) {
        elements<spec::x_type> terms[ahead];
        bool there[ahead];
#pragma unroll
        for (int i = 0; i < ahead; i++) {
            int from = j + i < job.top_k ? rows[j + i] : -1;
            there[i] = from >= 0 && from < job.x_rows;
            if (there[i])
                terms[i].load(x + from * job.x_stride);
        }
#pragma unroll
        for (int i = 0; i < ahead; i++)
            if (there[i])
                terms[i].add_to(sums, weights ? weights[j + i] : 1.0f);
    }
    store(job.values + (row * job.k + first) * c_size, sums);
}

extern "C" __global__ __launch_bounds__(spec::threads) void
combine(const jg_conversion_job job)
{
    ptx::griddepcontrol_launch_dependents();
    ptx::griddepcontrol_wait();
    sched::row_groups groups(job.numbers, JG_MASKED, JG_FLOOR);
    sched::row_group tokens = groups.read(0);
    int across = ceil_div(job.k, 32 * lane_k);
    long long units = (long long)tokens.rows * across;
    long long unit = (long long)blockIdx.x * warps + threadIdx.x / 32;

    if (tokens.fault && job.numbers.fault && !blockIdx.x && !threadIdx.x)
        groups.report(0);
    for (; unit < units; unit += (long long)gridDim.x * warps) {
        int first = (int(unit % across) * 32 + threadIdx.x % 32) * lane_k;
        if (first < job.k)
            combine_row(job, unit / across, first);
    }
}
