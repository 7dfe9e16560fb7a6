/* SPDX-License-Identifier: MIT */
/* What every function of the driver does first. One lock guards all state and
 * is held while work runs: calls and kernels happen one at a time. */
#ifndef EMU_DRIVER_CALL_H
#define EMU_DRIVER_CALL_H

#include "knobs.h"
#include "objects.h"

#include <mutex>

namespace emu_driver {

extern std::recursive_mutex lock;

enum rules : unsigned {
    anytime = 0,
    initialized = 1,    /* after cuInit() */
    in_context = 2,     /* with a current context that lives, has no error */
    capture_unsafe = 4, /* not while somebody captures in global mode */
    takes_memory = 8,   /* may fail for want of it */
};

/* Says on standard error why the running call fails; returns the result. */
CUresult refuse(CUresult result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same of something that happens later than the call that asked for it. */
CUresult report(CUresult result, const char *who, const char *text);

/* Whether there is such a device. */
CUresult check_device(CUdevice device);

/* Of the calling thread. */
CUcontext current_context();
std::vector<CUcontext> &context_stack();

/* Counts the call and checks the rules; "cuMemAlloc_v2" is a name too. Some
 * work that waits in streams may happen before. */
CUresult enter(const char *name, unsigned rules);

/* True while a host function of a stream runs, which may not call CUDA. */
extern bool in_host_function;

template <class F>
CUresult call(const char *name, unsigned rules, const F &body)
{
    std::lock_guard<std::recursive_mutex> guard(lock);
    CUresult result = enter(name, rules);

    return result == CUDA_SUCCESS ? body() : result;
}

} // namespace emu_driver

#endif
