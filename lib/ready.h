/* SPDX-License-Identifier: MIT */
/* The kernels of a problem: described, made ready, reported. */
#ifndef JG_READY_H
#define JG_READY_H

#include "context.h"

/* What is known of a kernel before it is ready: key, arch, name. */
jitgemm_status jg_ready_describe(jitgemm_context *context,
                                 const struct jg_spec *spec,
                                 jitgemm_kernel *report);

/* Finds or compiles it and fills the whole report. */
jitgemm_status jg_ready_make(jitgemm_context *context,
                             const struct jg_spec *spec,
                             struct jg_kernel **kernel,
                             jitgemm_kernel *report);

/* Loads it and gives the function to launch in the context's CUDA context,
 * which is current. */
jitgemm_status jg_ready_load(jitgemm_context *context,
                             const struct jg_spec *spec,
                             struct jg_kernel *kernel, CUfunction *function);

#endif
