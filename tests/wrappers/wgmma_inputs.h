/* SPDX-License-Identifier: MIT */
/* Inputs of the matrix products: layouts and numbers. */
#ifndef WRAPPERS_WGMMA_INPUTS_H
#define WRAPPERS_WGMMA_INPUTS_H

#include "both.h"

enum wgmma_numbers {
    /* All sums are f32 numbers, but for the last of these. */
    WGMMA_INTEGERS,  /* times powers of two */
    WGMMA_SUBNORMAL, /* f16: A and B, bf16: A */
    WGMMA_SPECIAL,   /* integers, a few infinities and NaNs */
    WGMMA_KEPT,      /* A is zero, D any finite number but -0 */
    WGMMA_ZEROS,     /* zeros of both signs */
    /* Sums of up to 26 bits: the hardware keeps them and then truncates. */
    WGMMA_TRUNCATED,
    WGMMA_INEXACT,
    WGMMA_NVFP4 = WGMMA_INEXACT,
    WGMMA_UNIFORM,
    WGMMA_ALL
};

/* So many products have an A that is not zero. */
extern int wgmma_inputs_products;

/* Fills in a case of wgmma.cuh: a block a layout, c->what being set. The input
 * is to be freed. */
void wgmma_inputs_make(struct both_case *c, int n, enum wgmma_numbers numbers);

/* The same with absolute values; to be freed. */
void *wgmma_inputs_magnitudes(const struct both_case *c, int n);

#endif
