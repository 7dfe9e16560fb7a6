/* SPDX-License-Identifier: MIT */
#include "emu_calls.h"

#include <dlfcn.h>
#include <stdlib.h>

struct emu_calls emu;
struct emu_knobs *knobs;

#define TEXT(name)          #name
#define EXPANDED_TEXT(name) TEXT(name)
#define EMU_FIND(name)                                                        \
    address = dlsym(library, EXPANDED_TEXT(name));                            \
    if (!address) {                                                           \
        printf("the driver has no %s\n", EXPANDED_TEXT(name));                \
        return false;                                                         \
    }                                                                         \
    memcpy(&emu.name, &address, sizeof address);

static bool find_calls(void *library)
{
    void *address;

    EMU_CALLS(EMU_FIND)
    return true;
}

bool emu_open(void)
{
    const char *path = getenv("JITGEMM_LIBCUDA");
    void *library;

    if (!gpu_open())
        return false;
    library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library || !find_calls(library))
        return false;
    knobs = dlsym(library, "emu_knobs");
    return true;
}

CUcontext emu_begin(void)
{
    CUcontext context;

#if CUDA_VERSION >= 13000
    EMU(cuCtxCreate(&context, NULL, 0, 0));
#else
    EMU(cuCtxCreate(&context, 0, 0));
#endif
    return context;
}

void emu_end(CUcontext context)
{
    EMU(cuCtxDestroy(context));
}

CUstream emu_stream(unsigned flags)
{
    CUstream stream;

    GPU(cuStreamCreate(&stream, flags));
    return stream;
}

CUevent emu_event(void)
{
    CUevent event;

    GPU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}
