/* SPDX-License-Identifier: MIT */
/* The experts of a model whose config.json is in the form of Hugging Face. */
#ifndef JITGEMM_WARM_MODEL_CONFIG_H
#define JITGEMM_WARM_MODEL_CONFIG_H

#include <stdbool.h>

#include "moe_models.h"

/* Reads text, behind whose bytes is a NUL, but for the name. NULL, or the rule
 * that it breaks and in *at the place. */
const char *model_config_parse(const char *text, size_t size,
                               struct moe_model *model, const char **at);

/* Reads a file, whose name is then the model's. False after a message. */
bool model_config_read(const char *path, struct moe_model *model);

#endif
