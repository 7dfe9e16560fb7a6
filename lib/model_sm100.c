/* SPDX-License-Identifier: MIT */
/* Blackwell: times from published rates, not yet measured. A B200 has 148
 * multiprocessors at 1.85 GHz; its 9 PFLOP/s of dense fp4 are 16384 products
 * a clock and multiprocessor, and its memory gives 8 TB/s. Of the L2 and of
 * shared memory a multiprocessor is taken to read 64 and 128 bytes a clock, as
 * on Hopper. */
#include "model.h"

/* Of equal times the first counts: stores without a detour through shared
 * memory, unless groups end in partly filled tiles, which swapped operands cut
 * narrower. The stages fill the 227 KB of shared memory. Two accumulators and
 * the scales of every stage fit the 512 columns of tensor memory, but for 256
 * columns. */
#define ROW(m, n, count, sharing, tensors, swap)                              \
    {.family = JG_SM100, .tile_m = m, .tile_n = n, .tile_k = 256,             \
     .stages = count, .ctas = sharing, .accumulators = tensors,               \
     .swapped = swap}

static const struct jg_config configs[] = {
    ROW(32, 128, 8, 1, 2, true),   ROW(64, 128, 7, 1, 2, true),
    ROW(128, 128, 6, 1, 2, false), ROW(128, 128, 6, 1, 2, true),
    ROW(128, 256, 4, 1, 1, false), ROW(256, 128, 7, 2, 2, false),
    ROW(256, 256, 5, 2, 1, false),
};

#define CLOCKS_A_US 1850.0
#define MEMORY_BYTES_A_US (0.9 * 8e6)
#define L2_BYTES_A_CLOCK 64.0
#define SHARED_BYTES_A_CLOCK 128.0
#define LATENCY_CLOCKS 1000.0 /* of a copy, memory being busy */
#define UNHIDDEN 0.1 /* of the lesser of two times that overlap */
#define LAUNCH_US 2.5 /* and the first copies: nothing overlaps them */
#define STORE_CLOCKS 1000.0 /* of a tile's accumulators, once at the end, or
                               after every tile if there is one accumulator */

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* A stage: the products of 128 lanes take 64 k of `filled` columns in half as
 * many clocks, unless operands come too slowly from shared memory, or from the
 * L2 for its bytes or because the ring holds too few of them. */
static double tile_us(const struct jg_config *config, struct jg_size size)
{
    double stages = (double)jg_cut_ceil_div(size.k, config->tile_k);
    double columns = config->swapped ? config->tile_m : config->tile_n;
    double filled = config->swapped ? least(size.m, config->tile_m)
                                    : least(size.n, config->tile_n);
    double loaded = 128 + filled / config->ctas; /* rows of both operands */
    double product = most(filled / 2, loaded * 32 / SHARED_BYTES_A_CLOCK);
    double scales = 2048 * (columns > 128 ? 3 : 2);
    double copies = most((loaded * 128 + scales) / L2_BYTES_A_CLOCK,
                         LATENCY_CLOCKS / config->stages);
    double stage = most(4 * product, copies);
    double store = config->accumulators > 1 ? 0 : STORE_CLOCKS;

    return (stages * stage + store) / CLOCKS_A_US;
}

static double memory_bytes(struct jg_size size)
{
    double m = size.m, n = size.n, k = size.k;

    return (m + n) * k * 9 / 16 + 2 * m * n;
}

static struct jg_estimate estimate(const struct jg_config *config,
                                   const struct jg_problem *problem,
                                   const struct jg_device *device)
{
    struct jg_estimate made = jg_model_waves(config, problem, device);
    double bytes = 0;

    for (int32_t g = 0; g < problem->groups; g++)
        if (problem->sizes[g].m)
            bytes += memory_bytes(problem->sizes[g]);
    made.memory_us = bytes / MEMORY_BYTES_A_US;
    if (made.tiles)
        made.us = LAUNCH_US + STORE_CLOCKS / CLOCKS_A_US +
                  most(made.tiles_us, made.memory_us) +
                  UNHIDDEN * least(made.tiles_us, made.memory_us);
    return made;
}

const struct jg_model jg_model_sm100 = {
    configs, sizeof configs / sizeof *configs, tile_us, estimate};
