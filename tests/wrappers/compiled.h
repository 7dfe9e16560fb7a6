/* SPDX-License-Identifier: MIT */
/* The programs of this folder, compiled by NVRTC and loaded by the driver. */
#ifndef WRAPPERS_COMPILED_H
#define WRAPPERS_COMPILED_H

#include <stdbool.h>

#include <cuda.h>

/* Opens the GPU and the compiler. False, after saying why, if there is no
 * sm_90 or no NVRTC. */
bool compiled_open(void);

/* The kernel wrap_NAME; compiled at the first call. Ends the program if that
 * fails, or if ptxas warns or spills. */
CUfunction compiled_function(const char *name);

#endif
