/* SPDX-License-Identifier: MIT */
#ifndef QUANTIZE_BENCH_H
#define QUANTIZE_BENCH_H

#include "jitgemm.h"

/* Times conversions and prints what they read and write a second, beside what
 * a plain copy does. */
void quantize_bench(jitgemm_context *context);

#endif
