/* SPDX-License-Identifier: MIT */
/* Runs of plans whose sizes are on the device. The public functions. */
#include <string.h>

#include "experts_job.h"
#include "launch.h"

static jitgemm_status check_plan(const jitgemm_plan *plan)
{
    if (!plan)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "plan", -1, 0, 0,
                                "plan is NULL");
    if (!plan->problem.on_device)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "plan", -1, 0, 0,
                                "plan was made with JITGEMM_SIZES_HOST: use "
                                "jitgemm_plan_bind() and jitgemm_run()");
    return JITGEMM_OK;
}

jitgemm_status jitgemm_plan_workspace(const jitgemm_plan *plan, size_t *bytes)
{
    jitgemm_status status = check_plan(plan);

    if (status != JITGEMM_OK)
        return status;
    if (!bytes)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "bytes", -1, 0, 0,
                                "bytes is NULL");
    *bytes = plan->layout.all;
    return JITGEMM_OK;
}

/* Whose kernels make the table of groups themselves. */
static jitgemm_status run_own(const jitgemm_plan *plan,
                              const struct jg_experts *experts,
                              void *workspace, struct CUstream_st *stream)
{
    struct jg_own_job job = {
        .experts = *experts,
        .workspace = workspace,
        .layout = (int)plan->config.layout,
        .place = (int)plan->config.place,
        .zero_tail = plan->config.zero_tail,
    };
    void *parameters[JG_SPEC_KERNELS] = {&job, &job};

    return jg_launch_run(plan, parameters, &job, stream);
}

jitgemm_status jitgemm_run_experts(const jitgemm_plan *plan,
                                   const jitgemm_expert_arguments *arguments,
                                   struct CUstream_st *stream)
{
    struct jg_experts_job job;
    struct jg_table table;
    void *parameters[JG_SPEC_KERNELS] = {&job, &table, &table};
    void *workspace;
    jitgemm_status status = check_plan(plan);

    if (status == JITGEMM_OK)
        status =
            jg_experts_read(&plan->config, &plan->problem, &plan->layout,
                            arguments, &job.experts, &workspace);
    if (status != JITGEMM_OK)
        return status;
    if (plan->config.own_table)
        return run_own(plan, &job.experts, workspace, stream);
    memcpy(job.maps, plan->maps, sizeof job.maps);
    jg_experts_place(&plan->layout, workspace, &job, &table);
    return jg_launch_run(plan, parameters, NULL, stream);
}
