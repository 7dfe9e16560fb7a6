/* SPDX-License-Identifier: MIT */
/* Configuration to kernels: which program texts, with which spec.cuh. Pure. */
#ifndef JG_SPEC_H
#define JG_SPEC_H

#include "cut.h"

#define JG_SPEC_KERNELS 3 /* that one product needs at most */

struct jg_spec {
    const char *program; /* in the kernel texts: "gemm/sm90_nvfp4.cu" */
    const char *symbol;  /* its __global__ function */
    char name[96];       /* for people */
    char arch[12];
    char text[1536];     /* of spec.cuh */
    int threads;         /* a block */
    int shared_bytes;    /* dynamic, a block */
    int cluster;         /* blocks; 0: launched without */
};

/* How many kernels the configuration needs. The last one is the product. */
int jg_spec_count(const struct jg_config *config);

/* The index-th, in order of launch; 0 <= index < jg_spec_count(). */
void jg_spec_make(const struct jg_config *config,
                  const struct jg_device *device, int index,
                  struct jg_spec *spec);

/* spec.cuh of other kernels: their constants. */
void jg_spec_write(struct jg_spec *spec, const char *constants);

#endif
