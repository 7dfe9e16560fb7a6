/* SPDX-License-Identifier: MIT */
/* Operands for a problem that nobody looks at: what a run takes does not
 * depend on what they are, but for the power that products of zeros save. */
#ifndef JG_DUMMY_H
#define JG_DUMMY_H

#include "launch.h"

struct jg_dummy { /* all zero: none */
    jitgemm_context *context;
    CUstream stream;
    CUdeviceptr memory, workspace;
    unsigned char *numbers; /* this and the next: until the stream has come
                               past what makes the operands */
    void *arrays;
    jitgemm_operands operands;
    jitgemm_expert_arguments experts; /* of sizes on the device */
};

/* Allocates them and begins to fill them, in order with the stream, with
 * numbers of which none is a NaN. In the CUDA context, relaxed, as all here.
 * To be freed whether it succeeds or not. E_MEMORY or E_DRIVER. */
jitgemm_status jg_dummy_make(jitgemm_context *context,
                             const struct jg_problem *problem,
                             CUstream stream, struct jg_dummy *dummy);
void jg_dummy_free(struct jg_dummy *dummy);

/* Makes a plan for the problem ready to run on them, and runs it once. */
jitgemm_status jg_dummy_bind(struct jg_dummy *dummy, jitgemm_plan *plan);
jitgemm_status jg_dummy_run(const struct jg_dummy *dummy,
                            const jitgemm_plan *plan);

#endif
