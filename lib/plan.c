/* SPDX-License-Identifier: MIT */
/* The choice of a configuration. */
#include "plan.h"

#include <math.h>

jitgemm_status jg_plan_choose(const struct jg_problem *problem,
                              const struct jg_device *device,
                              struct jg_config *config)
{
    const struct jg_model *model = jg_model_of(device->family);
    double least = INFINITY;

    for (int i = 0; i < model->count; i++) {
        double us = model->estimate(&model->configs[i], problem, device).us;

        if (us < least && jg_cut_allows(&model->configs[i], problem)) {
            least = us;
            *config = model->configs[i];
        }
    }
    config->output = problem->output;
    config->edits_maps =
        device->family == JG_SM100 && problem->groups > JG_CUT_HOST_MAPS;
    return JITGEMM_OK;
}
