/* SPDX-License-Identifier: MIT */
/* The emulated device: what every call checks, and what its parts share. */
#ifndef EMU_DEVICE_H
#define EMU_DEVICE_H

#include <cuda.h>

#include <mutex>
#include <string>

namespace emu_driver {

/* One lock for the whole device: calls and launches happen one at a time. */
extern std::recursive_mutex lock;

/* Says on standard error why a call is wrong, and gives its result. */
CUresult refuse(CUresult result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What a call needs. A kernel that failed makes all later calls fail. */
enum needs { NOTHING, INITIALIZED, CURRENT_CONTEXT };

/* The beginning of every call: CUDA_SUCCESS, or why it may not go on. `name`
 * is __func__; JITGEMM_EMU_FAIL=NAME[:RESULT[:AFTER]] makes calls of NAME
 * fail with that result, after so many that succeed. */
CUresult enter(const char *name, needs what);

/* Of calls that may not happen while a stream is captured: 900, unless this
 * thread's capture mode allows them. Ends the captures they break. */
CUresult enter_unsafe(const char *name);

/* A fault of a kernel, for the calls that follow. */
CUresult break_context(CUresult result);

} // namespace emu_driver

#define EMU_ENTER(what)                                                       \
    std::lock_guard<std::recursive_mutex> locked(emu_driver::lock);            \
    if (CUresult entered = emu_driver::enter(__func__, emu_driver::what))     \
        return entered
#define EMU_ENTER_UNSAFE()                                                    \
    EMU_ENTER(CURRENT_CONTEXT);                                               \
    if (CUresult unsafe = emu_driver::enter_unsafe(__func__))                 \
        return unsafe

#endif
