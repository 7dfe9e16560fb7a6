/* SPDX-License-Identifier: MIT */
/* What the models of all families have in common. */
#include "model.h"

struct jg_estimate jg_model_waves(const struct jg_config *config,
                                  const struct jg_problem *problem,
                                  const struct jg_device *device)
{
    const struct jg_model *model = jg_model_of(config->family);
    int64_t wave =
        device->sms > config->ctas ? device->sms / config->ctas : 1;
    struct jg_estimate estimate = {.us = 0};
    double all = 0, longest = 0;

    for (int32_t g = 0; g < problem->groups; g++) {
        struct jg_size size = problem->sizes[g];
        int64_t count = jg_cut_tiles(config, size);
        double one = model->tile_us(config, size);

        estimate.tiles += count;
        all += one * (double)count;
        longest = count && one > longest ? one : longest;
    }
    if (!estimate.tiles)
        return estimate;
    estimate.waves = jg_cut_ceil_div(estimate.tiles, wave);
    estimate.tiles_us =
        estimate.waves == 1
            ? longest
            : (double)estimate.waves * all / (double)estimate.tiles;
    return estimate;
}

const struct jg_model *jg_model_of(enum jg_family family)
{
    return family == JG_SM90 ? &jg_model_sm90 : &jg_model_sm100;
}
