/* SPDX-License-Identifier: MIT */
/* Scales of 128 rows on their way into the blocked layout: gathered in shared
 * memory, a byte or a word at a time, stored 16 bytes at a time. What nobody
 * has put there is 0: rows past a group's last one, k past the end. */
#pragma once
#include <base/rows.h>
#include <base/types.cuh>

namespace epilogue {

template <int atoms, int threads> struct scale_stage {
    static constexpr int pieces = JG_ATOM_BYTES / 16; /* of an atom */
    /* So much apart, a row's atoms are in different banks. */
    alignas(16) u8 bytes[atoms][JG_ATOM_BYTES + 16];

    /* Of a row in an atom. */
    __device__ static u32 place(u32 row)
    {
        return row % 32 * 16 + row / 32 * 4;
    }

    /* The scale of a block of 16 k; those of four blocks are neighbours. */
    __device__ u8 *at(u32 row, u32 block)
    {
        return &bytes[block / 4][place(row) + block % 4];
    }

    __device__ uint4 *piece(int i)
    {
        return reinterpret_cast<uint4 *>(bytes[i / pieces]) + i % pieces;
    }

    __device__ void clear()
    {
        for (int i = threadIdx.x; i < atoms * pieces; i += threads)
            *piece(i) = uint4{0, 0, 0, 0};
    }

    /* The first `count` atoms, which are one after the other there, too. A
     * thread stores the pieces that it clears. */
    __device__ void store(u8 *to, int count)
    {
        for (int i = threadIdx.x; i < count * pieces; i += threads)
            reinterpret_cast<uint4 *>(to)[i] = *piece(i);
    }
};

} // namespace epilogue
