/* SPDX-License-Identifier: MIT */
/* Shared-memory barriers with transaction counts. PTX ISA 9.7.13.15. */
#pragma once
#include <base/types.cuh>
#include <ptx/memory.cuh>

namespace ptx {

struct mbarrier {
    u64 word;
};

__device__ inline void mbarrier_init(mbarrier *barrier, u32 count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(count)
                 : "memory");
}

/* Makes the inits of this thread visible to the asynchronous proxy, and to
 * the cluster. */
__device__ inline void fence_mbarrier_init()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void mbarrier_arrive(mbarrier *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
                     shared_address(barrier))
                 : "memory");
}

/* At the barrier that lies at the same place in block `rank` of the cluster.
 * Says that products and copies are over, which this thread has waited for;
 * plain stores before it need not be visible to who waits. (That would cost a
 * memory barrier, which waits for copies under way, too.) */
__device__ inline void mbarrier_arrive_cluster(mbarrier *barrier, u32 rank)
{
    asm volatile("{\n"
                 ".reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, "
                 "[remote];\n"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(rank)
                 : "memory");
}

__device__ inline void mbarrier_arrive_expect_tx(mbarrier *barrier, u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::
                     "r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

/* True once the phase of that parity has completed; may wait a while. */
__device__ inline bool mbarrier_try_wait(mbarrier *barrier, u32 parity)
{
    u32 done;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return done;
}

} // namespace ptx
