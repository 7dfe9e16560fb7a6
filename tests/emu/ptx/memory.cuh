/* SPDX-License-Identifier: MIT */
/* Shared memory: its addresses and matrix stores. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>

namespace ptx {

inline u8 *dynamic_smem()
{
    return emu::dynamic_smem();
}

inline u32 shared_address(const void *pointer)
{
    return emu::shared_address(pointer);
}

inline void stmatrix_x2_trans(void *row, u32 first, u32 second)
{
    const u32 values[] = {first, second};

    emu::stmatrix(row, values, 2, true);
}

} // namespace ptx
