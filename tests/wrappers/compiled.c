/* SPDX-License-Identifier: MIT */
/* A kernel is compiled once, when it is first asked for. */
#include "compiled.h"

#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "nvrtc_kernel.h"
#include "programs.h"

/* Made by kernel_src/embed.sh of this folder. */
extern const struct jg_kernel_text wrapper_texts[];
extern const size_t wrapper_texts_count;

#define COUNTED(name) +1
enum {
    MOST_SHARED = 232448, /* 227 KiB */
    PROGRAMS = WRAPPER_PROGRAMS(COUNTED)
};

bool compiled_open(void)
{
    int major = 0;

    if (!gpu_open() || !nvrtc_kernel_open())
        return false;
    gpu_check(nvrtc_kernel_cuda->cuDeviceGetAttribute(
                  &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
              "cuDeviceGetAttribute");
    if (major != 9) {
        printf("skipped: %s is no sm_90\n", gpu.name);
        return false;
    }
    return true;
}

static CUfunction load(const char *name)
{
    char program[64], symbol[40];
    CUfunction function;

    snprintf(program, sizeof program, "tests/wrappers/%s.cu", name);
    snprintf(symbol, sizeof symbol, "wrap_%s", name);
    function = nvrtc_kernel_load(wrapper_texts, wrapper_texts_count, program,
                                 symbol, "sm_90a");
    gpu_check(nvrtc_kernel_cuda->cuFuncSetAttribute(
                  function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  MOST_SHARED),
              "cuFuncSetAttribute");
    return function;
}

CUfunction compiled_function(const char *name)
{
    static struct {
        char name[16];
        CUfunction function;
    } loaded[PROGRAMS];
    size_t i = 0;

    while (i < PROGRAMS - 1 && *loaded[i].name &&
           strcmp(loaded[i].name, name) != 0)
        i++;
    if (strcmp(loaded[i].name, name) != 0) {
        loaded[i].function = load(name);
        snprintf(loaded[i].name, sizeof loaded[i].name, "%s", name);
    }
    return loaded[i].function;
}
