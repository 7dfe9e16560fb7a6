/* SPDX-License-Identifier: MIT */
/* What the GPU allows, measured. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include <stdbool.h>

#include "cases.h"
#include "jitgemm.h"

struct limits {
    double rate;      /* TFLOP/s of f16: the best that cuBLAS has shown with
                         one big product; 0 without cuBLAS */
    double bandwidth; /* TB/s of reads */
};

/* False, after saying why, if something was computed wrong; what could not be
 * measured is 0. */
bool limits_measure(jitgemm_context *context, bool with_peers,
                    struct limits *limits);

/* The least time that a case can take, us: its flops at the rate or its bytes
 * at the bandwidth. */
double limits_us(const struct limits *limits, const struct gemm_case *c);

#endif
