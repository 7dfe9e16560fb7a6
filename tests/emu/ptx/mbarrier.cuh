/* SPDX-License-Identifier: MIT */
/* Shared-memory barriers with transaction counts. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>
#include <ptx/memory.cuh>

namespace ptx {

struct mbarrier {
    u64 word;
};
static_assert(sizeof(mbarrier) == 8 && alignof(mbarrier) == 8);

inline void mbarrier_init(mbarrier *barrier, u32 count)
{
    emu::mbarrier_init(barrier, count);
}

inline void fence_mbarrier_init()
{
    emu::fence_mbarrier_init();
}

inline void mbarrier_arrive(mbarrier *barrier)
{
    emu::mbarrier_arrive(barrier);
}

inline void mbarrier_arrive_cluster(mbarrier *barrier, u32 rank)
{
    emu::mbarrier_arrive_cluster(barrier, rank);
}

inline void mbarrier_arrive_expect_tx(mbarrier *barrier, u32 bytes)
{
    emu::mbarrier_expect_tx(barrier, bytes);
    emu::mbarrier_arrive(barrier);
}

inline bool mbarrier_try_wait(mbarrier *barrier, u32 parity)
{
    return emu::mbarrier_try_wait(barrier, parity);
}

} // namespace ptx
