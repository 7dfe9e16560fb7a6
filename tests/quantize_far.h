/* SPDX-License-Identifier: MIT */
#ifndef QUANTIZE_FAR_H
#define QUANTIZE_FAR_H

#include "jitgemm.h"

/* The last rows of two groups of max_rows x 7168: with 300000 rows they are
 * past 2^32 elements. How many bytes are wrong. */
int64_t quantize_far(jitgemm_context *context, int64_t max_rows);

#endif
