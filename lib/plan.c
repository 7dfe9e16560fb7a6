/* SPDX-License-Identifier: MIT */
/* The table of configurations and the model that picks one. */
#include "plan.h"

#define CHUNK_K 64   /* one 128-byte swizzle row of f16 */
#define ATOM_ROWS 8  /* tokens of a swizzle atom */

/* The stages fill the 227 KB of shared memory. A stage of 256 k makes weight
 * rows of 128 bytes, the best for memory; with wide tiles two such stages
 * would be all, so they take 128. */
const struct jg_config jg_plan_configs[] = {
    {8, 8, 128, 256, 8, 1, true},      {8, 8, 128, 256, 4, 2, false},
    {16, 16, 128, 256, 4, 2, false},   {32, 32, 128, 256, 6, 1, false},
    {64, 64, 128, 256, 4, 1, false},   {128, 32, 128, 128, 5, 1, false},
    {192, 64, 128, 128, 3, 1, false},  {256, 128, 128, 128, 3, 1, false},
};
const int jg_plan_configs_count =
    sizeof jg_plan_configs / sizeof *jg_plan_configs;

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* As few tiles as can be, as equal as whole atoms allow. */
int jg_plan_tile_rows(const struct jg_config *config, struct jg_size size)
{
    int64_t parts = size.m ? ceil_div(size.m, config->tile_m) : 1;

    return (int)ceil_div(ceil_div(size.m, parts), ATOM_ROWS) * ATOM_ROWS;
}

int64_t jg_plan_tiles(const struct jg_config *config, struct jg_size size)
{
    if (!size.m)
        return 0;
    return ceil_div(size.m, jg_plan_tile_rows(config, size)) *
           ceil_div(size.n, config->tile_n);
}

int64_t jg_plan_chunks(const struct jg_config *config, struct jg_size size)
{
    return ceil_div(size.k, config->tile_k) * (config->tile_k / CHUNK_K);
}

int64_t jg_plan_units(const struct jg_config *config, struct jg_size size)
{
    return ceil_div(size.m, ATOM_ROWS) * jg_plan_chunks(config, size);
}

/* The unit of the model is a token's matrix product with a tile's weights over
 * a chunk of k: 1.9 ns on an H200. All its numbers are from there, fitted to
 * the benchmark's cases; tests/bench/NOTES.md has the times. */
#define DECODE_COST 68 /* of a tile's weights, a chunk */
#define LAUNCH_COST 1600 /* of the kernel that decodes activations: 3 us */
#define FUSED_PERCENT 112 /* fused tiles decode activations again each time */

int64_t jg_plan_tile_time(const struct jg_config *config, struct jg_size size)
{
    int64_t width = ceil_div(jg_plan_tile_rows(config, size),
                             config->width_step) *
                    config->width_step;

    return jg_plan_chunks(config, size) * (DECODE_COST + width);
}

/* Tiles go out longest first in waves of one a multiprocessor (where two run
 * at once, each takes twice as long); long and short ones meet, so a wave
 * costs the average, and a partly filled last one as much as a full one. */
static int64_t estimate(const struct jg_config *config,
                        const struct jg_problem *problem,
                        const struct jg_device *device)
{
    double all = 0, longest = 0, cost;
    int64_t tiles = 0;

    for (int32_t g = 0; g < problem->groups; g++) {
        struct jg_size size = problem->sizes[g];
        int64_t count = jg_plan_tiles(config, size);
        double one = (double)jg_plan_tile_time(config, size);

        tiles += count;
        all += one * (double)count;
        longest = count && one > longest ? one : longest;
    }
    if (!tiles)
        return 0;
    cost = tiles <= device->sms ? longest
                                : (double)ceil_div(tiles, device->sms) * all /
                                      (double)tiles;
    return (int64_t)(config->fused ? cost * FUSED_PERCENT / 100
                                   : cost + LAUNCH_COST);
}

const struct jg_config *jg_plan_choose(const struct jg_problem *problem,
                                       const struct jg_device *device)
{
    const struct jg_config *best = &jg_plan_configs[0];
    int64_t least = estimate(best, problem, device);

    for (int i = 1; i < jg_plan_configs_count; i++) {
        int64_t cost = estimate(&jg_plan_configs[i], problem, device);

        if (cost < least) {
            least = cost;
            best = &jg_plan_configs[i];
        }
    }
    return best;
}
