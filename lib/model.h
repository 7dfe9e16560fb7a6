/* SPDX-License-Identifier: MIT */
/* What each family of GPUs may choose from, and how long it would take. Pure.
 */
#ifndef JG_MODEL_H
#define JG_MODEL_H

#include "cut.h"

struct jg_model {
    const struct jg_config *configs;
    int count;
    /* Of one tile; compares the groups of a problem. */
    double (*tile_us)(const struct jg_config *config, struct jg_size size);
    /* Of the whole product. */
    double (*us)(const struct jg_config *config,
                 const struct jg_problem *problem,
                 const struct jg_device *device);
};

extern const struct jg_model jg_model_sm90, jg_model_sm100;

#endif
