/* SPDX-License-Identifier: MIT */
/* Layers of experts with as many tokens for each expert as its router might
 * give it. */
#ifndef MODELS_H
#define MODELS_H

#include "cases.h"
#include "tool/moe_models.h"

/* Its two products for so many tokens, the same for the same arguments. Cases
 * are named as "mixtral-8x7b/gate_up/128". */
void moe_model_cases(const struct moe_model *model, int64_t tokens,
                     struct gemm_case *gate_up, struct gemm_case *down);

#endif
