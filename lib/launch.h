/* SPDX-License-Identifier: MIT */
/* Plans: device memory, kernels, launches. */
#ifndef JG_LAUNCH_H
#define JG_LAUNCH_H

#include "context.h"
#include "table.h"

struct jitgemm_plan {
    jitgemm_context *context;
    struct jg_config config;
    struct jg_problem problem;
    int32_t *order; /* group of each row of the table: longest tiles first */
    int kernels; /* entries in use of the two below */
    jitgemm_kernel reports[JG_SPEC_KERNELS];
    struct {
        CUfunction function;
        unsigned blocks, threads, shared_bytes, cluster;
    } launches[JG_SPEC_KERNELS];
    CUdeviceptr memory;
    struct jg_table table; /* the kernels' parameter: device addresses */
    struct jg_layout layout;
    unsigned char *image, *next; /* bound, and scratch for the next binding */
    bool bound;
};

/* Takes the problem over, which is left all zero, unless it fails at once. */
jitgemm_status jg_launch_create(jitgemm_context *context,
                                struct jg_problem *problem,
                                const struct jg_config *config,
                                jitgemm_plan **plan);
void jg_launch_destroy(jitgemm_plan *plan);
jitgemm_status jg_launch_run(const jitgemm_plan *plan, CUstream stream);

/* How the index-th kernel was made ready; false past the last. */
bool jg_launch_kernel(const jitgemm_plan *plan, int32_t index,
                      jitgemm_kernel *kernel);

#endif
