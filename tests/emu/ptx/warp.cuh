/* SPDX-License-Identifier: MIT */
/* What all lanes of a warp bring, made one. */
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

} // namespace ptx
