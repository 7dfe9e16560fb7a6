/* SPDX-License-Identifier: MIT */
/* Rows of f16 or bf16, or what an activation makes of them, to rows of f16 or
 * bf16, for groups whose rows device memory tells.
 *
 * A block does tile_k elements of a row at a time, a thread 16 bytes of the
 * output in each of a few places, all loads of which are under way at once.
 * Nothing depends on a row's group, so work is the same for few groups and
 * many. */
#include <base/conversion.h>
#include <base/group.h>
#include <base/types.cuh>
#include <ptx/float.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <quant/activation.cuh>
#include <quant/elements.cuh>
#include <sched/all_rows.cuh>
#include <spec.cuh>

constexpr int lane_k = 8;
constexpr bool activates = spec::activation != JG_NO_ACTIVATION;
constexpr bool interleaved = quant::is_interleaved(spec::activation);
constexpr int parts = activates ? 2 : 1; /* elements of x to one of c */
constexpr int chunks = 4 / parts; /* of a thread */
constexpr int tile_k = spec::threads * lane_k * chunks;
static_assert(tile_k == spec::tile_k);

using all_rows = sched::all_rows<spec::layout, spec::threads>;
using from = quant::pair<spec::x_type == JG_BF16>;
using to = quant::pair<spec::c_type == JG_BF16>;

struct smem {
    u32 words[sched::team<spec::threads>::words_count];
};
static_assert(sizeof(smem) == spec::smem_bytes);

/* What lane_k elements of the output are made of: pairs of them or, with an
 * activation, of gates and then of ups. */
struct chunk {
    u32 words[4 * parts];

    /* The parts are so many bytes apart. */
    __device__ void load(const u8 *x, u32 apart)
    {
#pragma unroll
        for (int i = 0; i < parts; i++) {
            uint4 four = *reinterpret_cast<const uint4 *>(x + i * apart);
            words[4 * i] = four.x, words[4 * i + 1] = four.y;
            words[4 * i + 2] = four.z, words[4 * i + 3] = four.w;
        }
    }

    __device__ void clear()
    {
#pragma unroll
        for (int i = 0; i < 4 * parts; i++)
            words[i] = 0;
    }

    /* Elements 2 * i and 2 * i + 1 of the output. */
    __device__ u32 cast(int i) const
    {
        if (!activates)
            return spec::x_type == spec::c_type
                       ? words[i]
                       : to::of(from::low(words[i]), from::high(words[i]));
        u32 gates = words[i], ups = words[i + 4 * (parts - 1)];
        if (interleaved) {
            u32 first = words[parts * i];
            u32 second = words[parts * i + parts - 1];
            gates = ptx::prmt(first, second, 0x5410);
            ups = ptx::prmt(first, second, 0x7632);
        }
        constexpr int kind = spec::activation;
        return to::of(quant::activate<kind>(from::low(gates), from::low(ups)),
                      quant::activate<kind>(from::high(gates),
                                            from::high(ups)));
    }
};

/* The row of x that a row of the output is made of; -1: none. */
__device__ inline long long source(const jg_conversion_job &job, long long row)
{
    if (!spec::gather)
        return row;
    int number = job.gather[row];
    return number < job.x_rows ? number : -1;
}

/* tile_k elements of a row, from the first-th on. */
__device__ inline void cast_row(const jg_conversion_job &job, long long row,
                                int first)
{
    constexpr int step = spec::threads * lane_k;
    long long number = source(job, row);
    const u8 *x = job.x + number * job.x_stride;
    u8 *values = job.values + row * job.k * 2;
    u32 apart = interleaved ? 2 * lane_k : 2 * u32(job.k);
    chunk all[chunks];

    first += threadIdx.x * lane_k;
#pragma unroll
    for (int i = 0; i < chunks; i++) {
        int k = first + i * step;
        if (number < 0)
            all[i].clear();
        else if (k < job.k)
            all[i].load(x + (long long)k * (interleaved ? 4 : 2), apart);
    }
#pragma unroll
    for (int i = 0; i < chunks; i++) {
        int k = first + i * step;
        if (k < job.k)
            *reinterpret_cast<uint4 *>(values + (long long)k * 2) =
                uint4{all[i].cast(0), all[i].cast(1), all[i].cast(2),
                      all[i].cast(3)};
    }
}

extern "C" __global__ __launch_bounds__(spec::threads) void
cast(const jg_conversion_job job)
{
    smem &shared = *reinterpret_cast<smem *>(ptx::dynamic_smem());

    ptx::griddepcontrol_launch_dependents();
    ptx::griddepcontrol_wait();
    all_rows rows(job.numbers, shared.words);
    int across = ceil_div(job.k, tile_k);
    long long units = rows.end() * across;

    for (long long unit = blockIdx.x; unit < units; unit += gridDim.x) {
        long long row = unit / across;
        if (rows.has(row))
            cast_row(job, row, int(unit % across) * tile_k);
    }
}
