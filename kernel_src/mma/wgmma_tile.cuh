/* SPDX-License-Identifier: MIT */
/* The order of k, and the shared-memory descriptor of activations.
 *
 * A product may run through k in any order that both operands share. In this
 * one lane c of a quad owns the c-th quarter of each 128 k, a span of two
 * blocks. Chunk q of the product, 64 k, takes the first block of every span
 * if q is even, else the second; its step j (of four, 16 k each) takes their
 * pairs 2j and 2j + 1, pair p being codes p % 4 and p % 4 + 4 of word p / 4.
 * So a lane's weights and scales lie side by side, and a 16-byte piece p of an
 * activation row holds pair p of the four blocks. It is the same order for
 * stages of any size, and so are the bits of a sum.
 */
#pragma once
#include <base/types.cuh>

namespace mma {

constexpr int chunk_k = 64;  /* 128 bytes of f16: one swizzle row */
constexpr int block_k = 16;  /* share a scale of NVFP4 */
constexpr int span_blocks = 2;
constexpr int span_k = span_blocks * block_k;
constexpr int atom_rows = 8; /* rows of a swizzle atom */
constexpr int atom_bytes = 1024;
constexpr int scale_atom_bytes = 512; /* four scales of 128 rows */

/* PTX ISA 9.7.15.5.1.2, f16 rows of 128 bytes, k contiguous:
 *   bits 0-13   address >> 4
 *   bits 16-29  leading offset, unused with a swizzle
 *   bits 32-45  stride of 8 rows >> 4
 *   bits 62-63  1: 128-byte swizzle */
__device__ inline u64 activation_descriptor(u32 shared_address)
{
    return (u64(1) << 62) | (u64(atom_bytes >> 4) << 32) |
           ((shared_address & 0x3ffff) >> 4);
}

/* Of the four blocks that a chunk takes, the first; a span apart. */
__device__ inline int first_block(int chunk)
{
    return chunk / 2 * (4 * span_blocks) + chunk % 2;
}

/* Of a row, in an atom of scales: its four bytes. */
__device__ inline int scale_offset(int row)
{
    return row % 32 * 16 + row % 128 / 32 * 4;
}

} // namespace mma
