/* SPDX-License-Identifier: MIT */
/* Problem and device to configuration: pure functions over a table. */
#ifndef JG_PLAN_H
#define JG_PLAN_H

#include <stdbool.h>

#include "device.h"
#include "problem.h"

struct jg_config {
    int tile_m; /* tokens, at most */
    int width_step; /* widths of the matrix instruction: the multiples of this
                       up to tile_m */
    int tile_n; /* weight rows */
    int tile_k; /* k of a stage */
    int stages;
    int blocks; /* a multiprocessor */
    bool fused; /* the product decodes the activations itself, instead of a
                   kernel before it */
};

/* Every configuration that a plan may choose. */
extern const struct jg_config jg_plan_configs[];
extern const int jg_plan_configs_count;

/* The configuration with the least estimated time. */
const struct jg_config *jg_plan_choose(const struct jg_problem *problem,
                                       const struct jg_device *device);

/* How a group is cut; see kernel_src/base/group.h. */
int jg_plan_tile_rows(const struct jg_config *config, struct jg_size size);
int64_t jg_plan_tile_time(const struct jg_config *config, struct jg_size size);
int64_t jg_plan_tiles(const struct jg_config *config, struct jg_size size);
int64_t jg_plan_chunks(const struct jg_config *config, struct jg_size size);
int64_t jg_plan_units(const struct jg_config *config, struct jg_size size);

#endif
