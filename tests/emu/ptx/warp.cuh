/* SPDX-License-Identifier: MIT */
/* What the lanes of a warp bring, to all or to others. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>

namespace ptx {

inline u32 redux_min(u32 value)
{
    return emu::redux(emu::redux_operation::least, value);
}

inline u32 redux_add(u32 value)
{
    return emu::redux(emu::redux_operation::sum, value);
}

inline u32 shfl_up(u32 value, u32 distance)
{
    return emu::shfl_up(value, distance);
}

} // namespace ptx
