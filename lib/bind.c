/* SPDX-License-Identifier: MIT */
/* Operands to the table of groups and its tensor maps. */
#include "bind.h"

#include <string.h>

#include "maps.h"

static jitgemm_status check_pointer(const char *argument, int32_t group,
                                    const void *pointer, unsigned align)
{
    uintptr_t address = (uintptr_t)pointer;

    if (!address)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, argument, group, 0, 0,
                                "%s[%d] is NULL, but the group is not empty",
                                argument, (int)group);
    if (address % align)
        return jg_fail_argument(JITGEMM_E_ALIGN, argument, group,
                                (int64_t)address, align,
                                "%s[%d] is %p; it must be a multiple of %u",
                                argument, (int)group, pointer, align);
    return JITGEMM_OK;
}

static jitgemm_status check_group(const struct jg_problem *problem,
                                  const jitgemm_operands *operands, int32_t g)
{
    jitgemm_status status =
        check_pointer("operands.a", g, operands->a[g], 16);

    if (status == JITGEMM_OK && problem->input == JG_IN_NVFP4)
        status = check_pointer("operands.sfa", g, operands->sfa[g], 16);
    if (status == JITGEMM_OK)
        status = check_pointer("operands.b", g, operands->b[g], 16);
    if (status == JITGEMM_OK)
        status = check_pointer("operands.sfb", g, operands->sfb[g], 16);
    if (status == JITGEMM_OK)
        status = check_pointer("operands.c", g, operands->c[g], 16);
    if (status == JITGEMM_OK && operands->alpha && operands->alpha[g])
        status = check_pointer("operands.alpha", g, operands->alpha[g], 4);
    if (status == JITGEMM_OK && operands->bias && operands->bias[g])
        status = check_pointer("operands.bias", g, operands->bias[g],
                               problem->output == JG_F32 ? 4 : 2);
    return status;
}

static jitgemm_status check_operands(const struct jitgemm_plan *plan,
                                     const jitgemm_operands *operands)
{
    jitgemm_status status = JITGEMM_OK;

    for (int32_t g = 0; g < plan->problem.groups && status == JITGEMM_OK; g++)
        if (plan->problem.sizes[g].m)
            status = check_group(&plan->problem, operands, g);
    return status;
}

/* Writes a group's operands into its row, the i-th of the image, and encodes
 * its maps if they are not what they were. Kernels that edit maps need one
 * group's only: *templates says whether it is there. */
static jitgemm_status fill_row(const struct jitgemm_plan *plan,
                               const jitgemm_operands *operands, int32_t i,
                               unsigned char *image, bool *templates)
{
    const struct jg_config *config = &plan->config;
    int32_t g = plan->order[i];
    struct jg_group *row = (struct jg_group *)image + i, old = *row;
    unsigned char *maps = image + plan->layout.maps;

    row->a = operands->a[g];
    row->sfa = config->input == JG_IN_NVFP4 ? operands->sfa[g] : NULL;
    row->b = operands->b[g];
    row->sfb = operands->sfb[g];
    row->c = operands->c[g];
    row->alpha = operands->alpha ? operands->alpha[g] : NULL;
    row->bias = operands->bias ? operands->bias[g] : NULL;
    if (config->family == JG_SM90)
        return row->b == old.b
                   ? JITGEMM_OK
                   : jg_maps_encode(plan->context, config, row, row->b_map);
    if (config->edits_maps && *templates)
        return JITGEMM_OK;
    *templates = true;
    if (row->a == old.a && row->b == old.b && row->sfa == old.sfa &&
        row->sfb == old.sfb)
        return JITGEMM_OK;
    if (!config->edits_maps)
        maps += (size_t)i * jg_table_group_maps(config);
    return jg_maps_encode(plan->context, config, row, maps);
}

static jitgemm_status upload(struct jitgemm_plan *plan, CUstream stream)
{
    const struct jg_cuda *cuda = plan->context->cuda;
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = cuda->cuStreamIsCapturing(stream, &capture);

    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, "cuStreamIsCapturing");
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE)
        return jg_fail_argument(JITGEMM_E_NOT_READY, "stream", -1, 0, 0,
                                "the operands differ from those last bound, "
                                "and the stream is being captured: bind "
                                "before the capture begins");
    result = cuda->cuMemcpyHtoDAsync(plan->memory, plan->next,
                                     plan->layout.image, stream);
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, "cuMemcpyHtoDAsync");
    return JITGEMM_OK;
}

/* In the CUDA context. */
static jitgemm_status rebind(struct jitgemm_plan *plan,
                             const jitgemm_operands *operands,
                             CUstream stream)
{
    unsigned char *spare = plan->image;
    bool templates = plan->bound;
    jitgemm_status status;

    memcpy(plan->next, plan->image, plan->layout.image);
    for (int32_t i = 0; i < plan->problem.groups; i++) {
        int32_t g = plan->order[i];

        if (!plan->problem.sizes[g].m)
            continue;
        status = fill_row(plan, operands, i, plan->next, &templates);
        if (status != JITGEMM_OK) {
            jg_error()->group = g;
            return status;
        }
    }
    if (plan->bound &&
        memcmp(plan->next, plan->image, plan->layout.image) == 0)
        return JITGEMM_OK;
    status = upload(plan, stream);
    if (status != JITGEMM_OK)
        return status;
    plan->image = plan->next;
    plan->next = spare;
    plan->bound = true;
    return JITGEMM_OK;
}

jitgemm_status jg_bind(jitgemm_plan *plan, const jitgemm_operands *operands,
                       CUstream stream)
{
    struct jg_visit visit;
    jitgemm_status status = check_operands(plan, operands);

    if (status == JITGEMM_OK)
        status = jg_context_enter(plan->context, &visit);
    if (status != JITGEMM_OK)
        return status;
    status = rebind(plan, operands, stream);
    jg_context_leave(plan->context, &visit);
    return status;
}
