/* SPDX-License-Identifier: MIT */
/* A ring of shared-memory slots between one producer and the consumers: which
 * slot is next and in which phase its two barriers are. Who waits and who
 * arrives stays on the kernel's page. */
#pragma once
#include <base/types.cuh>
#include <ptx/mbarrier.cuh>

namespace pipeline {

template <int slots> struct barriers {
    ptx::mbarrier full[slots];
    ptx::mbarrier empty[slots];
};

template <int slots> struct ring {
    barriers<slots> &shared;
    int slot = 0;
    u32 parity = 0;

    __device__ void next()
    {
        if (++slot == slots) {
            slot = 0;
            parity ^= 1;
        }
    }

    __device__ void wait_full()
    {
        while (!ptx::mbarrier_try_wait(&shared.full[slot], parity))
            continue;
    }

    /* For the producer: until all slots that it filled are full. */
    __device__ void wait_all_full()
    {
        for (int i = 0; i < slots; i++)
            while (!ptx::mbarrier_try_wait(&shared.full[i],
                                           parity ^ (i >= slot)))
                continue;
    }

    /* The first time around every slot is empty. */
    __device__ void wait_empty()
    {
        while (!ptx::mbarrier_try_wait(&shared.empty[slot], parity ^ 1))
            continue;
    }
};

} // namespace pipeline
