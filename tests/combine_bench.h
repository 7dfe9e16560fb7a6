/* SPDX-License-Identifier: MIT */
/* How long adding up experts' rows takes. Prints a line a case. */
#ifndef COMBINE_BENCH_H
#define COMBINE_BENCH_H

#include "jitgemm.h"

void combine_bench(jitgemm_context *context);

#endif
