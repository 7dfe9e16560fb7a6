/* SPDX-License-Identifier: MIT */
/* The choice of a configuration. */
#include "plan.h"

/* Beyond this many groups the blocks make their tensor maps themselves: of all
 * maps, the host would have to encode and upload far more than blocks use. */
#define MAX_HOST_MAPS 512

jitgemm_status jg_plan_choose(const struct jg_problem *problem,
                              const struct jg_device *device,
                              struct jg_config *config)
{
    const struct jg_model *model = jg_model_of(device->family);
    double least = 0;

    if (device->family == JG_SM90 && problem->output != JG_F16)
        return jg_fail_argument(JITGEMM_E_ARCH, "problem.c_type", -1,
                                (int64_t)problem->output, JG_F16,
                                "problem.c_type is %d; the kernels for %s "
                                "write f16 only",
                                (int)problem->output, device->arch);
    for (int i = 0; i < model->count; i++) {
        double us = model->estimate(&model->configs[i], problem, device).us;

        if (i == 0 || us < least) {
            least = us;
            *config = model->configs[i];
        }
    }
    config->output = problem->output;
    config->edits_maps =
        device->family == JG_SM100 && problem->groups > MAX_HOST_MAPS;
    return JITGEMM_OK;
}
