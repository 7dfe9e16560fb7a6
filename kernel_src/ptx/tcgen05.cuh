/* SPDX-License-Identifier: MIT */
/* Tensor memory, and the asynchronous block-scaled product of fp4 operands in
 * shared memory into it, by one thread. PTX ISA 9.7.16.
 *
 * `ctas` is 1, or 2 for a pair of blocks: ranks 2i and 2i + 1 of a cluster.
 * One warp of each allocates and frees, together; a thread of the even block,
 * which leads, issues for both. Addresses and descriptors then mean the same
 * place in each block. A kernel has one value of it throughout.
 *
 * An address in tensor memory has the lane (0 to 127) in its upper 16 bits and
 * the column (0 to 511, 32 bits each) in its lower ones. The descriptors are
 * those of mma/tcgen05_tile.cuh. What one thread issues of tcgen05_cp_* and
 * tcgen05_mma_* after a copy, and of products on one accumulator, happens in
 * order; anything else has to wait for a commit. */
#pragma once
#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>

namespace ptx {

/* By a whole warp. Writes the address of that many columns (32, 64, 128, 256
 * or 512) to shared memory; waits while another block has too many. */
template <int ctas = 1>
__device__ inline void tcgen05_alloc(u32 *address, u32 columns)
{
    asm volatile("tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 "
                 "[%0], %1;" ::"r"(shared_address(address)),
                 "r"(columns), "n"(ctas)
                 : "memory");
}

/* By a whole warp, after the block's last allocation. */
template <int ctas = 1>
__device__ inline void tcgen05_relinquish_alloc_permit()
{
    asm volatile(
        "tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" ::"n"(
            ctas)
        : "memory");
}

/* By the whole warp that allocated, before it ends. Both blocks of a pair must
 * know that the other is done. */
template <int ctas = 1>
__device__ inline void tcgen05_dealloc(u32 address, u32 columns)
{
    asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 "
                 "%0, %1;" ::"r"(address),
                 "r"(columns), "n"(ctas)
                 : "memory");
}

/* Before and after what synchronizes threads whose accesses to tensor memory
 * must be in that order. */
__device__ inline void tcgen05_fence_before_thread_sync()
{
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

__device__ inline void tcgen05_fence_after_thread_sync()
{
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/* 32 rows of 16 bytes from shared memory to four columns of lanes 0 to 31,
 * and again to each further 32 lanes. Asynchronous. */
template <int ctas = 1>
__device__ inline void tcgen05_cp_32x128b_warpx4(u32 address, u64 descriptor)
{
    asm volatile("tcgen05.cp.cta_group::%2.32x128b.warpx4 [%0], %1;" ::"r"(
                     address),
                 "l"(descriptor), "n"(ctas)
                 : "memory");
}

/* D = A * B^T for 64 k, plus D if `accumulate`: a and b describe e2m1 in
 * shared memory; scales_a and scales_b are where in tensor memory the scales
 * of each 16 k lie; `instruction` has shape and types. Asynchronous.
 * Of a pair, each block has half of the rows of A and D, with their scales,
 * half of the rows of B, and the scales of all of B. */
template <int ctas = 1>
__device__ inline void tcgen05_mma_mxf4nvf4(u32 d, u64 a, u64 b,
                                            u32 instruction, u32 scales_a,
                                            u32 scales_b, bool accumulate)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.u32 p, %6, 0;\n"
                 "tcgen05.mma.cta_group::%7.kind::mxf4nvf4.block_scale"
                 ".block16 [%0], %1, %2, %3, [%4], [%5], p;\n"
                 "}" ::"r"(d),
                 "l"(a), "l"(b), "r"(instruction), "r"(scales_a),
                 "r"(scales_b), "r"(u32(accumulate)), "n"(ctas)
                 : "memory");
}

/* Arrives once at the barrier when all that this thread has issued so far is
 * done; implies tcgen05_fence_before_thread_sync(). */
template <int ctas = 1>
__device__ inline void tcgen05_commit(mbarrier *barrier)
{
    asm volatile("tcgen05.commit.cta_group::%1.mbarrier::arrive::one"
                 ".shared::cluster.b64 [%0];" ::"r"(shared_address(barrier)),
                 "n"(ctas)
                 : "memory");
}

/* The same at the barriers that lie at that place in the blocks of the cluster
 * whose ranks are bits of `blocks`. */
template <int ctas = 1>
__device__ inline void tcgen05_commit_multicast(mbarrier *barrier, u16 blocks)
{
    asm volatile("tcgen05.commit.cta_group::%2.mbarrier::arrive::one"
                 ".shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "h"(blocks), "n"(ctas)
                 : "memory");
}

/* As cp_async_bulk_tensor_2d() of ptx/tma.cuh, by either block of a pair, but
 * counted on the even block's barrier: bit 24 of an address is the block's
 * parity. */
__device__ inline void cp_async_bulk_tensor_2d_pair(void *destination,
                                                    const void *map, int x,
                                                    int y, mbarrier *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global"
                 ".tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
                 "[%4];" ::"r"(shared_address(destination)),
                 "l"(map), "r"(x), "r"(y),
                 "r"(shared_address(barrier) & 0xfeffffff)
                 : "memory");
}

/* tcgen05_ld_32x32b_xN(d, address): by a whole warp, with one address: its
 * lanes get N columns of "their" lane. Warp w reaches lanes 32 * (w % 4) up
 * only, the first of which the address names. The registers are the load's
 * until tcgen05_wait_ld(). */
__device__ inline void tcgen05_ld_32x32b_x8(float (&d)[8], u32 address)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]),
                   "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
                 : "r"(address)
                 : "memory");
}

__device__ inline void tcgen05_ld_32x32b_x16(float (&d)[16], u32 address)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, "
                 "%8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]),
                   "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]),
                   "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]),
                   "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15])
                 : "r"(address)
                 : "memory");
}

__device__ inline void tcgen05_ld_32x32b_x32(float (&d)[32], u32 address)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, "
                 "%8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, "
                 "%24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]),
                   "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]),
                   "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]),
                   "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15]),
                   "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]),
                   "=f"(d[20]), "=f"(d[21]), "=f"(d[22]), "=f"(d[23]),
                   "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]),
                   "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31])
                 : "r"(address)
                 : "memory");
}

/* Until all loads of this thread are done. */
__device__ inline void tcgen05_wait_ld()
{
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

} // namespace ptx
