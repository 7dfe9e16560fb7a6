/* SPDX-License-Identifier: MIT */
/* The kernels of a problem: described, made ready, reported. */
#ifndef JG_READY_H
#define JG_READY_H

#include "context.h"

/* What is known of a kernel before it is ready: key, arch, name. */
jitgemm_status jg_ready_describe(jitgemm_context *context,
                                 const struct jg_spec *spec,
                                 jitgemm_kernel *report);

/* Finds or compiles it and fills the whole report. With a GPU it is loaded,
 * too, and *function is what to launch, with nothing left for the first launch
 * to do; the CUDA context was entered, relaxed. `problem` is what asks for it,
 * as text. */
jitgemm_status jg_ready_make(jitgemm_context *context,
                             const struct jg_spec *spec, const char *problem,
                             CUfunction *function, jitgemm_kernel *report);

/* The same ahead of any plan, wherever the thread is; tries again what did not
 * compile before. */
jitgemm_status jg_ready_prepare(jitgemm_context *context,
                                const struct jg_spec *spec,
                                const char *problem, jitgemm_kernel *report);

/* The same later, in a thread of the context's pool; nothing to do if it is
 * ready. */
jitgemm_status jg_ready_prepare_async(jitgemm_context *context,
                                      const struct jg_spec *spec,
                                      const char *problem);

/* See jg_registry_peek(). */
jitgemm_status jg_ready_peek(jitgemm_context *context,
                             const struct jg_spec *spec, const char *problem);

#endif
