/* SPDX-License-Identifier: MIT */
/* The order of k inside a chunk of 64, and the shared-memory descriptor of
 * activations.
 *
 * A product may run through k in any order that both operands share. In this
 * one lane c of a quad owns the c-th block of 16: step j (of four, 16 k each)
 * takes its pairs 2j and 2j + 1, pair p being codes p % 4 and p % 4 + 4 of
 * word p / 4. So a weight fragment comes from one 8-byte load and one scale,
 * and a 16-byte piece p of an activation row holds pair p of all four blocks.
 */
#pragma once
#include <base/types.cuh>
#include <mma/nvfp4.cuh>

namespace mma {

constexpr int chunk_k = 64;  /* 128 bytes of f16: one swizzle row */
constexpr int atom_rows = 8; /* rows of a swizzle atom */
constexpr int atom_bytes = 1024;

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

/* The part of a weight fragment that comes from one row: registers `first`
 * and first + 2 of each of the four steps. */
__device__ inline void decode_row(u32 (&fragment)[4][4], int first, uint2 codes,
                                  u32 scale)
{
#pragma unroll
    for (int pair = 0; pair < 8; pair++)
        fragment[pair / 2][first + 2 * (pair % 2)] =
            decode_pair(pair < 4 ? codes.x : codes.y, pair % 4, scale);
}

} // namespace mma
