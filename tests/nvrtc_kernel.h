/* SPDX-License-Identifier: MIT */
/* Kernels of tests and benchmark, embedded as texts: compiled by NVRTC and
 * loaded by the driver. */
#ifndef NVRTC_KERNEL_H
#define NVRTC_KERNEL_H

#include <stdbool.h>

#include "driver.h"
#include "kernel_text.h"

/* Opens the library's driver and compiler, after gpu_open(). False, after
 * saying why, if there is no NVRTC. */
bool nvrtc_kernel_open(void);
extern const struct jg_cuda *nvrtc_kernel_cuda;
/* The compiler alone, which leaves the process free to fork. */
bool nvrtc_kernel_open_compiler(void);

/* The kernel `symbol` of the text that is named `program`. It may include the
 * others, without their folders, and the library's. Ends the program if it
 * does not compile, or if ptxas warns or spills. */
CUfunction nvrtc_kernel_load(const struct jg_kernel_text *texts, size_t count,
                             const char *program, const char *symbol,
                             const char *arch);

/* Its cubin, to be freed; NULL if the compiler does not know the architecture.
 */
void *nvrtc_kernel_cubin(const struct jg_kernel_text *texts, size_t count,
                         const char *program, const char *arch, size_t *size);

#endif
