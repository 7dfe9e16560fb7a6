/* SPDX-License-Identifier: MIT */
#include "hold.h"

#include <stdio.h>

#include "gpu.h"
#include "nvrtc_kernel.h"

/* Made by kernel_src/embed.sh of this folder. */
extern const struct jg_kernel_text hold_texts[];
extern const size_t hold_texts_count;

void *hold_cubin(const char *arch, size_t *size)
{
    return nvrtc_kernel_cubin(hold_texts, hold_texts_count,
                              "tests/driver/hold.cu", arch, size);
}

void *hold_cubin_for(int major, int minor)
{
    char arch[16];
    size_t size;

    snprintf(arch, sizeof arch, "sm_%d%d", major, minor);
    return hold_cubin(arch, &size);
}

CUresult hold_launch(const struct jg_cuda *cuda, CUfunction function,
                     CUstream stream, struct hold_job job)
{
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = HOLD_THREADS,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream};
    void *parameters[] = {&job};

    return cuda->cuLaunchKernelEx(&config, function, parameters, NULL);
}

bool hold_is_right(const unsigned *out)
{
    unsigned words[HOLD_THREADS];

    gpu_download(words, out, sizeof words);
    for (unsigned i = 0; i < HOLD_THREADS; i++)
        if (words[i] != HOLD_VALUE + i)
            return false;
    return true;
}
