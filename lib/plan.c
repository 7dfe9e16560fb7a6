/* SPDX-License-Identifier: MIT */
/* The choice of a configuration. */
#include "plan.h"

#include <base/experts.h>
#include <math.h>
#include <string.h>

#include "spec.h"

jitgemm_status jg_plan_choose(const struct jg_problem *problem,
                              const struct jg_device *device,
                              struct jg_config *config)
{
    const struct jg_model *model = jg_model_of(device->family);
    struct jg_device allowed = jg_cut_device(problem, device);
    double least = INFINITY;

    if (device->family != JG_SM90 && problem->weights != JG_W_NVFP4)
        return jg_fail_argument(JITGEMM_E_ARCH, "problem.b_type", -1,
                                (int64_t)problem->weights, JG_W_NVFP4,
                                "problem.b_type is %d; the kernels for %s "
                                "multiply weights of NVFP4 only",
                                (int)problem->weights, device->arch);
    if (device->family != JG_SM90 && problem->input != JG_IN_NVFP4)
        return jg_fail_argument(JITGEMM_E_ARCH, "problem.a_type", -1,
                                (int64_t)problem->input, JG_IN_NVFP4,
                                "problem.a_type is %d; the kernels for %s "
                                "multiply NVFP4 only",
                                (int)problem->input, device->arch);
    for (int i = 0; i < model->count; i++) {
        double us = model->estimate(&model->configs[i], problem, &allowed).us;

        if (us < least && jg_cut_allows(&model->configs[i], problem, device)) {
            least = us;
            *config = model->configs[i];
        }
    }
    jg_plan_complete(problem, config);
    return JITGEMM_OK;
}

const char *jg_plan_named(const struct jg_problem *problem,
                          const struct jg_device *device, const char *kernel,
                          struct jg_config *config)
{
    const struct jg_model *model = jg_model_of(device->family);

    for (int i = 0; i < model->count; i++) {
        struct jg_config row = model->configs[i];
        struct jg_spec spec;

        jg_plan_complete(problem, &row);
        jg_spec_make(&row, device, jg_spec_count(&row) - 1, &spec);
        if (strcmp(spec.name, kernel) != 0)
            continue;
        if (!jg_cut_allows(&row, problem, device))
            return "cannot do this problem";
        *config = row;
        return NULL;
    }
    return "is no kernel of this version";
}

void jg_plan_complete(const struct jg_problem *problem,
                      struct jg_config *config)
{
    config->input = problem->input;
    config->weights = problem->weights;
    config->output = problem->output;
    config->strided = jg_problem_is_strided(problem);
    config->accumulate = problem->accumulate;
    config->edits_maps = config->family == JG_SM100 && !problem->on_device &&
                         problem->groups > JG_CUT_HOST_MAPS;
    config->own_table = config->family == JG_SM90 && problem->on_device &&
                        problem->groups <= JG_OWN_GROUPS;
    config->experts = problem->on_device && !config->own_table;
    config->layout = problem->layout;
    config->place = problem->place;
    config->zero_tail = problem->zero_tail;
}
