/* SPDX-License-Identifier: MIT */
/* Tensor memory and the asynchronous block-scaled product into it. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>

namespace ptx {

template <int ctas = 1> inline void tcgen05_alloc(u32 *address, u32 columns)
{
    emu::tcgen05_alloc(ctas, address, columns);
}

template <int ctas = 1> inline void tcgen05_relinquish_alloc_permit()
{
    emu::tcgen05_relinquish_alloc_permit(ctas);
}

template <int ctas = 1> inline void tcgen05_dealloc(u32 address, u32 columns)
{
    emu::tcgen05_dealloc(ctas, address, columns);
}

inline void tcgen05_fence_before_thread_sync()
{
    emu::tcgen05_fence_before_thread_sync();
}

inline void tcgen05_fence_after_thread_sync()
{
    emu::tcgen05_fence_after_thread_sync();
}

template <int ctas = 1>
inline void tcgen05_cp_32x128b_warpx4(u32 address, u64 descriptor)
{
    emu::tcgen05_cp(ctas, address, descriptor);
}

template <int ctas = 1>
inline void tcgen05_mma_mxf4nvf4(u32 d, u64 a, u64 b, u32 instruction,
                                 u32 scales_a, u32 scales_b, bool accumulate)
{
    emu::tcgen05_mma(ctas,
                     {d, a, b, instruction, scales_a, scales_b, accumulate});
}

template <int ctas = 1> inline void tcgen05_commit(mbarrier *barrier)
{
    emu::tcgen05_commit(ctas, barrier);
}

template <int ctas = 1>
inline void tcgen05_commit_multicast(mbarrier *barrier, u16 blocks)
{
    emu::tcgen05_commit(ctas, barrier, blocks);
}

inline void cp_async_bulk_tensor_2d_pair(void *destination, const void *map,
                                         int x, int y, mbarrier *barrier)
{
    const int coordinates[] = {x, y};

    emu::copy_tensor({destination, barrier, emu::own_block, true}, map,
                     coordinates, 2);
}

inline void tcgen05_ld_32x32b_x8(float (&d)[8], u32 address)
{
    emu::tcgen05_ld(d, 8, address);
}

inline void tcgen05_ld_32x32b_x16(float (&d)[16], u32 address)
{
    emu::tcgen05_ld(d, 16, address);
}

inline void tcgen05_ld_32x32b_x32(float (&d)[32], u32 address)
{
    emu::tcgen05_ld(d, 32, address);
}

inline void tcgen05_wait_ld()
{
    emu::tcgen05_wait_ld();
}

} // namespace ptx
