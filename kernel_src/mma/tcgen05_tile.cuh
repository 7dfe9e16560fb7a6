/* SPDX-License-Identifier: MIT */
/* Where the operands of a block-scaled fp4 product lie, and the descriptors
 * that say so. Pure: for the host too.
 *
 * Operands: k contiguous, 256 k = 128 bytes a row, 128-byte swizzle, at
 * multiples of 1024 bytes. One product takes 64 k: the next is product_bytes
 * further, within the row. Scales: an atom has those of 128 rows and 64 k;
 * the four of row r begin at 16 * (r % 32) + 4 * (r / 32 % 4). A copy puts an
 * atom into four columns of tensor memory. */
#pragma once
#include <base/types.cuh>

namespace mma {

constexpr int product_k = 64;
constexpr int product_bytes = product_k / 2; /* of an operand's row */
constexpr int operand_row_bytes = 128;       /* the swizzle's span */
constexpr int operand_atom_bytes = 8 * operand_row_bytes;
constexpr int scale_atom_bytes = 512;
constexpr int scale_atom_rows = 128;
constexpr int scale_atom_columns = 4; /* of tensor memory */
constexpr int tensor_columns = 512;   /* of a block at most */

/* PTX ISA 9.7.16.4.3 for kind::mxf4nvf4: both operands e2m1, k contiguous,
 * scales ue4m3, their ids 0.
 *   bits 4-5    scale of B: first byte of the word
 *   bits 7-9    type of A: 1 is e2m1
 *   bits 10-12  type of B
 *   bits 17-22  n >> 3
 *   bit  23     type of the scales: 0 is ue4m3, 1 is ue8m0
 *   bits 24-28  m >> 4
 *   bits 29-30  scale of A: first byte of the word
 *   bit  31     0 is 64 k */
__host__ __device__ constexpr u32 product_instruction(int m, int n)
{
    return u32(1) << 7 | u32(1) << 10 | u32(n >> 3) << 17 | u32(m >> 4) << 24;
}

/* PTX ISA 9.7.16.4.1:
 *   bits 0-13   address >> 4
 *   bits 16-29  leading offset >> 4; unused with a swizzle, 1 by convention
 *   bits 32-45  stride of 8 rows >> 4
 *   bits 46-48  1
 *   bits 61-63  0: no swizzle, 2: 128-byte swizzle */
__host__ __device__ constexpr u64 operand_descriptor(u32 shared_address)
{
    return u64(2) << 61 | u64(1) << 46 | u64(operand_atom_bytes >> 4) << 32 |
           u64(1) << 16 | (shared_address & 0x3ffff) >> 4;
}

/* Of an atom, for tcgen05_cp_32x128b_warpx4: rows of 16 bytes, no swizzle. */
__host__ __device__ constexpr u64 scale_descriptor(u32 shared_address)
{
    return u64(1) << 46 | u64(8 * 16 >> 4) << 32 |
           (shared_address & 0x3ffff) >> 4;
}

/* What to add to either to move it on; all stays below 256 KiB. */
__host__ __device__ constexpr u64 descriptor_step(int bytes)
{
    return u64(bytes >> 4);
}

/* Byte of row `row`, byte `byte` of it, from the operand's begin. */
__host__ __device__ constexpr int operand_offset(int row, int byte)
{
    return row * operand_row_bytes + ((byte >> 4 ^ (row & 7)) << 4) +
           (byte & 15);
}

/* Byte of row `row`'s scale of its `block`-th 16 k, in scales whose k-th
 * dimension has `atoms` atoms; global and shared memory alike. */
__host__ __device__ constexpr u64 scale_offset(int row, int block, int atoms)
{
    return (u64(row / scale_atom_rows) * u64(atoms) + u64(block / 4)) *
               scale_atom_bytes +
           u64(row % 32 * 16 + row % scale_atom_rows / 32 * 4 + block % 4);
}

/* The address of a column of an allocation, and of a lane of it. */
__host__ __device__ constexpr u32 tensor_address(u32 base, int lane,
                                                 int column)
{
    return base + (u32(lane) << 16) + u32(column);
}

} // namespace mma
