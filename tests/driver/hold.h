/* SPDX-License-Identifier: MIT */
/* A kernel that ends at once, or stays until it is let go. */
#ifndef HOLD_H
#define HOLD_H

#include <stdbool.h>

#include "driver.h"
#include "hold_job.h"

#define HOLD_SYMBOL "hold"

/* After nvrtc_kernel_open_compiler(); NULL if it does not know `arch`. */
void *hold_cubin(const char *arch, size_t *size);
/* For compute capability major.minor. */
void *hold_cubin_for(int major, int minor);

CUresult hold_launch(const struct jg_cuda *cuda, CUfunction function,
                     CUstream stream, struct hold_job job);
/* Whether a launch has written what it should. */
bool hold_is_right(const unsigned *out);

#endif
