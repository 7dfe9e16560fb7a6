/* SPDX-License-Identifier: MIT */
/* What each family of GPUs may choose from, and how long it would take. Pure.
 */
#ifndef JG_MODEL_H
#define JG_MODEL_H

#include "cut.h"

struct jg_estimate {
    double us; /* the whole product */
    int64_t tiles;
    int64_t waves;    /* of a tile a multiprocessor */
    double tiles_us;  /* all waves */
    double memory_us; /* operands and C, once; 0: not looked at */
};

struct jg_model {
    const struct jg_config *configs;
    int count;
    /* Of one tile; compares the groups of a problem. */
    double (*tile_us)(const struct jg_config *config, struct jg_size size);
    struct jg_estimate (*estimate)(const struct jg_config *config,
                                   const struct jg_problem *problem,
                                   const struct jg_device *device);
};

/* Fills all but us and memory_us. Tiles go out longest first in waves of one a
 * multiprocessor, or pair of them; long and short ones meet, so a wave costs
 * the average, and a partly filled last one as much as a full one. */
struct jg_estimate jg_model_waves(const struct jg_config *config,
                                  const struct jg_problem *problem,
                                  const struct jg_device *device);

extern const struct jg_model jg_model_sm90, jg_model_sm100;
const struct jg_model *jg_model_of(enum jg_family family);

#endif
