/* SPDX-License-Identifier: MIT */
/* Sizes, weights and activations are those of the models' published
 * configurations. */
#include "moe_models.h"

#include <string.h>

const struct moe_model moe_models[] = {
    {"deepseek-v3", 256, 8, 7168, 2048, false, false},
    {"kimi-k2", 384, 8, 7168, 2048, false, false},
    {"qwen3-30b", 128, 8, 2048, 768, false, false},
    {"qwen3-235b", 128, 8, 4096, 1536, false, false},
    {"gpt-oss-20b", 32, 4, 2880, 2880, true, true},
    {"gpt-oss-120b", 128, 4, 2880, 2880, true, true},
    {"llama4-scout", 16, 1, 5120, 8192, false, false},
    {"llama4-maverick", 128, 1, 5120, 8192, false, false},
    {"mixtral-8x7b", 8, 2, 4096, 14336, false, false},
    {"glm-4.5", 160, 8, 5120, 1536, false, false},
};

const size_t moe_models_count = sizeof moe_models / sizeof *moe_models;

const struct moe_model *moe_model_find(const char *name)
{
    for (size_t i = 0; i < moe_models_count; i++)
        if (strcmp(moe_models[i].name, name) == 0)
            return &moe_models[i];
    return NULL;
}
