/* SPDX-License-Identifier: MIT */
/* --model: what a layer of a model's experts runs. */
#ifndef JITGEMM_WARM_MODEL_LIST_H
#define JITGEMM_WARM_MODEL_LIST_H

#include "problem_list.h"

/* Adds gate_up and down of a model for each number of tokens, with sizes on
 * the device. The model is one of moe_models.h or else the name of a
 * config.json.
 *
 *   tokens = range { "," range } ;
 *   range  = number [ "-" number ] ;
 *
 * A range has problems of at most its last number of tokens, for which its
 * ends and each power of two between them are typical. The intermediate size
 * is divided by `tp`. Weights are what the model has. False after a message.
 */
bool model_list_add(struct problem_list *list, const char *model,
                    const char *tokens, int64_t tp);

/* Adds the conversions around the products of each model in the list, whose
 * types are set: tokens to A, gathered; C of gate_up to A, activated, unless C
 * is f32, which conversions do not take; and C of down back to tokens. Tokens
 * are of A's type if that has 16 bits, else of C's, and else bf16. */
bool model_list_convert(struct problem_list *list);

#endif
