/* SPDX-License-Identifier: MIT */
/* What a conversion's kernel gets. Shared with C11. */
#ifndef JG_CONVERSION_H
#define JG_CONVERSION_H

#include <base/rows.h>

/* What quantize.cu makes of x before: jitgemm_activation. */
enum jg_activation {
    JG_NO_ACTIVATION,
    JG_SWIGLU,
    JG_SWIGLU_INTERLEAVED,
    JG_SWIGLU_OAI,
    JG_SWIGLU_OAI_INTERLEAVED
};

struct jg_conversion_job {
    struct jg_row_numbers numbers;
    const unsigned char *x;
    long long x_stride; /* bytes from row to row */
    const float *scale; /* [groups], combine.cu: [rows * top_k]; null: 1 */
    unsigned char *values;
    unsigned char *scales;
    const int *gather; /* rows of x for each one of values */
    int k;
    int x_rows; /* that x has, if they are gathered */
    int top_k;  /* combine.cu: rows of x to one of the output */
    int unused;
};

#endif
