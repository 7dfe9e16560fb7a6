/* SPDX-License-Identifier: MIT */
/* Zeros for the rows of C that are no group's: behind the last offset, or each
 * group's count. Tiles write none of them. */
#pragma once
#include <base/experts.h>
#include <base/types.cuh>
#include <sched/row_groups.cuh>

namespace epilogue {

/* By all threads of a block, of so many: a warp a row. */
template <int threads>
__device__ inline void zero_tail(const jg_experts &experts,
                                 const sched::row_groups &rows, int block,
                                 int blocks)
{
    constexpr int warps = threads / 32;
    const jg_row_numbers &numbers = experts.numbers;
    bool stacked = rows.layout == JG_STACKED;
    long long most = numbers.max_rows;
    long long end = stacked ? most : most * numbers.groups;
    long long row =
        (stacked ? rows.end : 0) + block * warps + int(threadIdx.x) / 32;

    for (; row < end; row += blocks * warps) {
        if (!stacked) {
            sched::row_group group = rows.read(int(row / most));
            if (group.fault || row - group.first < group.rows)
                continue;
        }
        u8 *c = experts.c + row * experts.row_c;
        for (long long i = threadIdx.x % 32 * 16; i < experts.row_bytes_c;
             i += 32 * 16)
            *reinterpret_cast<uint4 *>(c + i) = uint4{0, 0, 0, 0};
    }
}

} // namespace epilogue
