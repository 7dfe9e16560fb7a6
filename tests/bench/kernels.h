/* SPDX-License-Identifier: MIT */
/* The benchmark's own kernels. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "reference.h"

/* After gpu_open(). False, after saying why, if there is no NVRTC. */
bool kernels_open(void);

/* Launches, into gpu.stream, a kernel that only reads: `bytes`, a multiple of
 * 16. What it has summed up is in at most kernels_read_sums() words. */
void kernels_read(const void *in, size_t bytes, unsigned *sums);
size_t kernels_read_sums(void);

/* Fills `out`, rows * k elements of f16 or bf16, which have room for all that
 * NVFP4 can say, from the operand's values and scales in device memory. */
void kernels_widen(enum ref_type type, const void *values, const void *scales,
                   int64_t rows, int64_t k, void *out);

#endif
