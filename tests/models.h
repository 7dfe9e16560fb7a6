/* SPDX-License-Identifier: MIT */
/* Layers of experts of public models, with as many tokens for each expert as
 * its router might give it. */
#ifndef MODELS_H
#define MODELS_H

#include <stdbool.h>

#include "cases.h"

struct moe_model {
    const char *name;
    int32_t experts, top; /* top: experts that a token goes to */
    int64_t hidden, intermediate;
};

extern const struct moe_model moe_models[];
extern const size_t moe_models_count;

/* NULL if there is none of that name. */
const struct moe_model *moe_model_find(const char *name);

/* Its two products for so many tokens, the same for the same arguments. Cases
 * are named as "mixtral-8x7b/gate_up/128". */
void moe_model_cases(const struct moe_model *model, int64_t tokens,
                     struct gemm_case *gate_up, struct gemm_case *down);

#endif
