/* SPDX-License-Identifier: MIT */
/* Layers of experts of public models. */
#ifndef JITGEMM_WARM_MOE_MODELS_H
#define JITGEMM_WARM_MOE_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its products are gate_up, of 2 intermediate x hidden weights an expert, and
 * down, of hidden x intermediate. */
struct moe_model {
    const char *name;
    int32_t experts, top; /* top: experts that a token goes to */
    int64_t hidden, intermediate;
    bool mxfp4; /* weights, as they are published */
    bool oai;   /* gpt-oss's activation, of interleaved gates and ups; else
                   SwiGLU of halves */
};

extern const struct moe_model moe_models[];
extern const size_t moe_models_count;

/* NULL if there is none of that name. */
const struct moe_model *moe_model_find(const char *name);

#endif
