/* SPDX-License-Identifier: MIT */
#ifndef EXPERTS_BENCH_H
#define EXPERTS_BENCH_H

#include "jitgemm.h"

/* Prints what products of experts take, with sizes on the device and, for
 * comparison, with the same sizes on the host. */
void experts_bench(jitgemm_context *context);

#endif
