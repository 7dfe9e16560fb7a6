/* SPDX-License-Identifier: MIT */
/* Barriers between threads, register shares, dependent launches. */
#pragma once
#include "../instructions.h"
#include <base/types.cuh>

namespace ptx {

inline void bar_sync(u32 id, u32 threads)
{
    emu::bar_sync(id, threads);
}

inline bool elect_one()
{
    return emu::elect_one();
}

inline void fence_proxy_async()
{
    emu::fence_proxy_async();
}

template <int registers> inline void setmaxnreg_inc()
{
    emu::setmaxnreg(registers, true);
}

template <int registers> inline void setmaxnreg_dec()
{
    emu::setmaxnreg(registers, false);
}

inline void griddepcontrol_wait()
{
    emu::griddepcontrol_wait();
}

inline void griddepcontrol_launch_dependents()
{
    emu::griddepcontrol_launch_dependents();
}

} // namespace ptx
