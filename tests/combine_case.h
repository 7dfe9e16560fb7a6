/* SPDX-License-Identifier: MIT */
/* Weighted sums of rows on the GPU, and what they must be, bit by bit. */
#ifndef COMBINE_CASE_H
#define COMBINE_CASE_H

#include <stdbool.h>

#include "jitgemm.h"

struct combine_case {
    jitgemm_type x_type, c_type;
    int32_t tokens; /* of max_rows; past them it is a fault */
    int32_t max_rows, top_k;
    int64_t k;
    bool weighted;
};

/* Rows and weights at random, numbers of no row among them, and rows of NaN
 * that nobody names. Returns how many bytes of the output and of the fault are
 * not what they must be. */
int64_t combine_case_test(jitgemm_context *context,
                          const struct combine_case *c);

#endif
