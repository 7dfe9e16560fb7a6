/* SPDX-License-Identifier: MIT */
/* Plans: device memory, kernels, launches. */
#ifndef JG_LAUNCH_H
#define JG_LAUNCH_H

#include "context.h"
#include "maps.h"

struct jitgemm_plan {
    jitgemm_context *context;
    struct jg_device device; /* what of it the problem may use */
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
    struct jg_table table; /* the kernels' parameter: device addresses; if the
                              sizes are on the device, only what is known */
    struct jg_layout layout;
    unsigned long long maps[JG_MAPS_MOST][16]; /* of experts.cu */
    unsigned char *image, *next; /* bound, and scratch for the next binding */
    bool bound;
};

/* Takes the problem over, which is left all zero, unless it fails at once. */
jitgemm_status jg_launch_create(jitgemm_context *context,
                                struct jg_problem *problem,
                                const struct jg_config *config,
                                jitgemm_plan **plan);
void jg_launch_destroy(jitgemm_plan *plan);
/* Launches the plan's kernels, the i-th with that parameter. Before that it
 * encodes the map of `own`, unless that is NULL. */
jitgemm_status jg_launch_run(const jitgemm_plan *plan, void *const *parameters,
                             struct jg_own_job *own, CUstream stream);

/* How the index-th kernel was made ready; false past the last. */
bool jg_launch_kernel(const jitgemm_plan *plan, int32_t index,
                      jitgemm_kernel *kernel);

#endif
