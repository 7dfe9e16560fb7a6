/* SPDX-License-Identifier: MIT */
/* Hopper: times fitted to the benchmark's cases on an H200; see
 * tests/bench/NOTES.md. */
#include "model.h"

/* The stages fill the 227 KB of shared memory. A stage of 256 k makes weight
 * rows of 128 bytes, the best for memory; with wide tiles two such stages
 * would be all, so they take 128. Those that split k come last: the rows before
 * them are for experts, too. */
#define ROW(m, step, n, k, count, per_sm, fuse)                               \
    {.family = JG_SM90, .tile_m = m, .tile_n = n, .tile_k = k,                \
     .stages = count, .ctas = 1, .width_step = step, .blocks = per_sm,        \
     .fused = fuse}
#define SPLIT(parts)                                                          \
    {.family = JG_SM90, .tile_m = 8, .tile_n = 128, .tile_k = 128,            \
     .stages = 6, .ctas = parts, .width_step = 8, .blocks = 2, .fused = true}

static const struct jg_config configs[] = {
    ROW(8, 8, 128, 256, 8, 1, true),     ROW(8, 8, 128, 256, 4, 2, false),
    ROW(16, 8, 128, 256, 4, 2, false),   ROW(32, 32, 128, 256, 6, 1, false),
    ROW(32, 32, 256, 256, 3, 1, false),  ROW(64, 64, 128, 256, 4, 1, false),
    ROW(96, 96, 256, 128, 4, 1, false),  ROW(128, 32, 128, 128, 5, 1, false),
    ROW(192, 64, 128, 128, 3, 1, false), ROW(256, 64, 128, 128, 3, 1, false),
    ROW(8, 8, 64, 256, 7, 2, true),      ROW(16, 16, 64, 256, 5, 2, true),
    SPLIT(2),                            SPLIT(4),
};

/* A token's matrix product with 128 weight rows over a chunk of k, and other
 * costs in this unit. */
#define UNIT_US 0.0019
#define DECODE_COST 68 /* of 128 weight rows, a chunk */
#define SHORT_DECODE_COST 54 /* of 64 rows: few tiles are twice as many */
#define FEW_STAGES_COST 28 /* more, with tiles that leave room for three */
#define TALL_DECODE_COST 120 /* of 256 rows */
#define LAUNCH_COST 1000 /* of the kernel that decodes activations: 1.9 us */
#define ADD_PARTS_US 1.2 /* of a tile whose k is split */
#define FUSED_PERCENT 118 /* fused tiles decode activations again each time */

/* Of a chunk's weights. */
static int64_t decode_cost(const struct jg_config *config)
{
    if (config->tile_n > 128)
        return TALL_DECODE_COST;
    if (config->tile_n < 128)
        return SHORT_DECODE_COST;
    return DECODE_COST + (config->tile_m > 128 ? FEW_STAGES_COST : 0);
}

static double tile_us(const struct jg_config *config, struct jg_size size)
{
    int64_t width = jg_cut_ceil_div(jg_cut_tile_rows(config, size),
                                    config->width_step) *
                    config->width_step;
    int64_t products = width * config->tile_n / 128;

    double us = (double)(jg_cut_chunks(config, size) *
                         (decode_cost(config) + products)) *
                UNIT_US;

    return config->ctas > 1 ? us / config->ctas + ADD_PARTS_US : us;
}

/* Where two blocks run at once, each takes twice as long. */
static struct jg_estimate estimate(const struct jg_config *config,
                                   const struct jg_problem *problem,
                                   const struct jg_device *device)
{
    struct jg_estimate made = jg_model_waves(config, problem, device);

    if (made.tiles)
        made.us = config->fused ? made.tiles_us * FUSED_PERCENT / 100
                                : made.tiles_us + LAUNCH_COST * UNIT_US;
    return made;
}

const struct jg_model jg_model_sm90 = {
    configs, sizeof configs / sizeof *configs, tile_us, estimate};
