/* SPDX-License-Identifier: MIT */
/* Tiles of a group. */
#include "cut.h"

#define CHUNK_K 64  /* one 128-byte swizzle row of f16 */
#define ATOM_ROWS 8 /* tokens of a swizzle atom */

int64_t jg_cut_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Blackwell's tiles begin where tensor memory can address the scales. */
struct jg_tiling jg_cut_tiling(const struct jg_config *config, int32_t n,
                               int32_t k)
{
    struct jg_size size = {0, n, k};
    int chunks = (int)jg_cut_chunks(config, size);
    bool ahead = config->family == JG_SM90 && !config->fused;

    return (struct jg_tiling){
        .tile_m = config->tile_m,
        .whole = config->family == JG_SM100,
        .across = (int)jg_cut_ceil_div(n, config->tile_n),
        .chunks = chunks,
        .units = ahead ? chunks : 0,
    };
}

int jg_cut_tile_rows(const struct jg_config *config, struct jg_size size)
{
    struct jg_tiling tiling = jg_cut_tiling(config, size.n, size.k);

    return jg_tile_rows(&tiling, (unsigned)size.m);
}

int64_t jg_cut_tiles(const struct jg_config *config, struct jg_size size)
{
    if (!size.m)
        return 0;
    return jg_cut_ceil_div(size.m, jg_cut_tile_rows(config, size)) *
           jg_cut_ceil_div(size.n, config->tile_n);
}

int64_t jg_cut_chunks(const struct jg_config *config, struct jg_size size)
{
    return jg_cut_ceil_div(size.k, config->tile_k) *
           (config->tile_k / CHUNK_K);
}

int64_t jg_cut_units(const struct jg_config *config, struct jg_size size)
{
    return jg_cut_ceil_div(size.m, ATOM_ROWS) *
           jg_cut_tiling(config, size.n, size.k).units;
}

/* Every part of k has a stage, and every tile a cluster. */
static bool allows_split(const struct jg_config *config,
                         const struct jg_problem *problem,
                         const struct jg_device *device)
{
    int64_t tiles = 0;

    for (int32_t g = 0; g < problem->groups; g++) {
        struct jg_size size = problem->sizes[g];

        if (size.m && jg_cut_ceil_div(size.k, config->tile_k) < config->ctas)
            return false;
        tiles += jg_cut_tiles(config, size);
    }
    return problem->split_k && !problem->on_device &&
           tiles <= device->sms / config->ctas;
}

/* Pairs of CTAs are given their maps, and cannot blank the padding of the
 * other's scales, which an odd number of 32 k leaves. */
static bool allows_pairs(const struct jg_problem *problem)
{
    for (int32_t g = 0; g < problem->groups; g++)
        if (problem->sizes[g].k % 64)
            return false;
    return problem->on_device || problem->groups <= JG_CUT_HOST_MAPS;
}

struct jg_device jg_cut_device(const struct jg_problem *problem,
                               const struct jg_device *device)
{
    struct jg_device allowed = *device;

    if (problem->sm_limit && problem->sm_limit < allowed.sms)
        allowed.sms = problem->sm_limit;
    return allowed;
}

bool jg_cut_allows(const struct jg_config *config,
                   const struct jg_problem *problem,
                   const struct jg_device *device)
{
    struct jg_device allowed = jg_cut_device(problem, device);

    if (config->ctas == 1)
        return true;
    if (config->ctas > allowed.sms)
        return false;
    return config->family == JG_SM90 ? allows_split(config, problem, &allowed)
                                     : allows_pairs(problem);
}
