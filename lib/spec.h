/* SPDX-License-Identifier: MIT */
/* Configuration to kernels: which program texts, with which spec.cuh. Pure. */
#ifndef JG_SPEC_H
#define JG_SPEC_H

#include "plan.h"

#define JG_SPEC_KERNELS 2 /* that one product needs, in order of launch */

struct jg_spec {
    const char *program; /* in the kernel texts: "gemm/sm90_nvfp4.cu" */
    const char *symbol;  /* its __global__ function */
    char name[80];       /* for people */
    char arch[12];
    char text[1280];     /* of spec.cuh */
    int threads;         /* a block */
    int shared_bytes;    /* dynamic, a block */
};

/* The index-th kernel, 0 <= index < JG_SPEC_KERNELS. */
void jg_spec_make(const struct jg_config *config,
                  const struct jg_device *device, int index,
                  struct jg_spec *spec);

#endif
