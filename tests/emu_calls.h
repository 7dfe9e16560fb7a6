/* SPDX-License-Identifier: MIT */
/* For tests of the emulated driver: what gpu.h does not have, and the knobs.
 * On a GPU these tests compare the emulated driver's rules with the real
 * ones; what only the emulated one can show hangs on `knobs`. */
#ifndef EMU_CALLS_H
#define EMU_CALLS_H

#include "emu/driver/knobs.h"
#include "gpu.h"
#include "test.h"

#define EMU_CALLS(_)                                                          \
    _(cuCtxCreate)                                                            \
    _(cuCtxDestroy)                                                           \
    _(cuCtxPopCurrent)                                                        \
    _(cuDeviceGetAttribute)                                                   \
    _(cuDevicePrimaryCtxRelease)                                              \
    _(cuEventDestroy)                                                         \
    _(cuEventQuery)                                                           \
    _(cuFuncGetAttribute)                                                     \
    _(cuFuncSetAttribute)                                                     \
    _(cuGraphDestroy)                                                         \
    _(cuGraphExecDestroy)                                                     \
    _(cuKernelGetFunction)                                                    \
    _(cuLaunchHostFunc)                                                       \
    _(cuLaunchKernelEx)                                                       \
    _(cuLibraryGetKernel)                                                     \
    _(cuLibraryLoadData)                                                      \
    _(cuLibraryUnload)                                                        \
    _(cuMemAllocHost)                                                         \
    _(cuMemFreeHost)                                                          \
    _(cuMemcpyDtoDAsync)                                                      \
    _(cuMemcpyDtoHAsync)                                                      \
    _(cuMemcpyHtoDAsync)                                                      \
    _(cuMemsetD8Async)                                                        \
    _(cuStreamDestroy)                                                        \
    _(cuStreamIsCapturing)                                                    \
    _(cuStreamQuery)                                                          \
    _(cuStreamWaitEvent)                                                      \
    _(cuTensorMapEncodeTiled)                                                 \
    _(cuThreadExchangeStreamCaptureMode)

struct emu_calls {
    EMU_CALLS(GPU_POINTER)
};
extern struct emu_calls emu;
extern struct emu_knobs *knobs; /* NULL: a real driver */

/* gpu_open(), and the above. */
bool emu_open(void);

/* A context of its own, current from now on; and back. What breaks it breaks
 * nothing else. */
CUcontext emu_begin(void);
void emu_end(CUcontext context);

/* Streams, events and graphs, one line each. */
CUstream emu_stream(unsigned flags);
CUevent emu_event(void);
#define EMU(call) gpu_check(emu.call, #call)

/* The call fails so; on the emulated driver for a reason with that word. */
#define CHECK_REFUSED(call, result, word)                                     \
    do {                                                                      \
        if (knobs)                                                            \
            knobs->reason[0] = 0;                                             \
        CHECK_INT(call, result);                                              \
        CHECK(!knobs || strstr(knobs->reason, word) != NULL);                 \
    } while (0)

#endif
