/* SPDX-License-Identifier: MIT */
/* Blocks that run together and reach each other's shared memory. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>

namespace ptx {

inline u32 cluster_ctarank()
{
    return emu::here->rank;
}

inline u32 cluster_nctarank()
{
    return emu::here->ranks;
}

inline void barrier_cluster_arrive()
{
    emu::barrier_cluster_arrive();
}

inline void barrier_cluster_wait()
{
    emu::barrier_cluster_wait();
}

template <class T> inline T *mapa(T *pointer, u32 rank)
{
    return static_cast<T *>(emu::mapa(pointer, rank));
}

} // namespace ptx
