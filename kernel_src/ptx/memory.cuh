/* SPDX-License-Identifier: MIT */
/* Shared memory: its addresses, and the loads and stores that C++ cannot say.
 * PTX ISA 9.7.9 (data movement), 9.7.15 (matrix store). */
#pragma once
#include <base/types.cuh>

namespace ptx {

/* The block's dynamic shared memory, 1024-byte aligned by its user. */
__device__ inline u8 *dynamic_smem()
{
    extern __shared__ __align__(16) u8 memory[];
    return memory;
}

__device__ inline u32 shared_address(const void *pointer)
{
    return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

/* Stores two transposed 8x8 matrices of 16-bit values: lanes 0-7 give the
 * addresses of the 16-byte rows of the first, lanes 8-15 of the second. */
__device__ inline void stmatrix_x2_trans(void *row, u32 first, u32 second)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], "
                 "{%1, %2};" ::"r"(shared_address(row)),
                 "r"(first), "r"(second)
                 : "memory");
}

} // namespace ptx
