/* SPDX-License-Identifier: MIT */
/* Asynchronous matrix product of a warpgroup. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>

namespace ptx {

inline void wgmma_fence()
{
    emu::wgmma_fence();
}

inline void wgmma_commit_group()
{
    emu::wgmma_commit_group();
}

template <int pending> inline void wgmma_wait_group()
{
    emu::wgmma_wait_group(pending);
}

/* The overloads of each width that the real header has. */
#define EMU_WGMMA(n)                                                         \
    inline void wgmma_mma_async(float(&d)[(n) / 2], const u32(&a)[4], u64 b) \
    {                                                                        \
        emu::wgmma_mma({d, n, false, a, 0, b});                              \
    }                                                                        \
    inline void wgmma_mma_async_bf16(float(&d)[(n) / 2], const u32(&a)[4],   \
                                     u64 b)                                  \
    {                                                                        \
        emu::wgmma_mma({d, n, true, a, 0, b});                               \
    }

EMU_WGMMA(8)
EMU_WGMMA(16)
EMU_WGMMA(32)
EMU_WGMMA(48)
EMU_WGMMA(64)
EMU_WGMMA(80)
EMU_WGMMA(96)
EMU_WGMMA(112)
EMU_WGMMA(128)
EMU_WGMMA(160)
EMU_WGMMA(192)
EMU_WGMMA(224)
EMU_WGMMA(256)

#undef EMU_WGMMA

} // namespace ptx
