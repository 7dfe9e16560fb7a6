/* SPDX-License-Identifier: MIT */
/* Operands to the table of groups and its tensor maps. */
#include "bind.h"

#include <string.h>

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

static jitgemm_status check_group(const jitgemm_operands *operands, int32_t g)
{
    jitgemm_status status =
        check_pointer("operands.a", g, operands->a[g], 16);

    if (status == JITGEMM_OK)
        status = check_pointer("operands.sfa", g, operands->sfa[g], 16);
    if (status == JITGEMM_OK)
        status = check_pointer("operands.b", g, operands->b[g], 16);
    if (status == JITGEMM_OK)
        status = check_pointer("operands.sfb", g, operands->sfb[g], 16);
    if (status == JITGEMM_OK)
        status = check_pointer("operands.c", g, operands->c[g], 16);
    if (status == JITGEMM_OK && operands->alpha && operands->alpha[g])
        status = check_pointer("operands.alpha", g, operands->alpha[g], 4);
    return status;
}

static jitgemm_status check_operands(const struct jitgemm_plan *plan,
                                     const jitgemm_operands *operands)
{
    jitgemm_status status = JITGEMM_OK;

    for (int32_t g = 0; g < plan->problem.groups && status == JITGEMM_OK; g++)
        if (plan->problem.sizes[g].m)
            status = check_group(operands, g);
    return status;
}

/* The weights as rows of k/2 bytes; a copy takes the rows and bytes of one
 * stage, swizzled over as many bytes as it has in a row. */
static CUresult encode_map(const struct jitgemm_plan *plan,
                           struct jg_size size, const void *b, void *map)
{
    cuuint64_t extent[2] = {(cuuint64_t)size.k / 2, (cuuint64_t)size.n};
    cuuint64_t stride[1] = {(cuuint64_t)size.k / 2};
    cuuint32_t box[2] = {(cuuint32_t)plan->config.tile_k / 2,
                         (cuuint32_t)plan->config.tile_n};
    cuuint32_t step[2] = {1, 1};
    CUtensorMapSwizzle swizzle = box[0] == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                                               : CU_TENSOR_MAP_SWIZZLE_64B;
    CUtensorMap encoded;
    CUresult result = plan->context->cuda->cuTensorMapEncodeTiled(
        &encoded, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, (void *)(uintptr_t)b,
        extent, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

    if (result == CUDA_SUCCESS)
        memcpy(map, &encoded, sizeof encoded);
    return result;
}

/* Writes group g's operands into a row; *changed if any differs. */
static CUresult fill_row(const struct jitgemm_plan *plan,
                         const jitgemm_operands *operands, int32_t g,
                         struct jg_group *row, bool *changed)
{
    const float *alpha = operands->alpha ? operands->alpha[g] : NULL;

    if (row->a != operands->a[g] || row->sfa != operands->sfa[g] ||
        row->sfb != operands->sfb[g] || row->c != operands->c[g] ||
        row->alpha != alpha) {
        row->a = operands->a[g];
        row->sfa = operands->sfa[g];
        row->sfb = operands->sfb[g];
        row->c = operands->c[g];
        row->alpha = alpha;
        *changed = true;
    }
    if (row->b == operands->b[g])
        return CUDA_SUCCESS;
    row->b = operands->b[g];
    *changed = true;
    return encode_map(plan, plan->problem.sizes[g], row->b, row->b_map);
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
                                     plan->image_bytes, stream);
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, "cuMemcpyHtoDAsync");
    return JITGEMM_OK;
}

/* In the CUDA context. */
static jitgemm_status rebind(struct jitgemm_plan *plan,
                             const jitgemm_operands *operands,
                             CUstream stream)
{
    struct jg_group *rows = (struct jg_group *)plan->next;
    unsigned char *spare = plan->image;
    bool changed = !plan->bound;
    jitgemm_status status;

    memcpy(plan->next, plan->image, plan->image_bytes);
    for (int32_t i = 0; i < plan->problem.groups; i++) {
        int32_t g = plan->order[i];
        CUresult result = CUDA_SUCCESS;

        if (plan->problem.sizes[g].m)
            result = fill_row(plan, operands, g, &rows[i], &changed);
        if (result != CUDA_SUCCESS) {
            status = jg_driver_fail(plan->context->cuda, result,
                                    "cuTensorMapEncodeTiled");
            jg_error()->group = g;
            jg_error()->argument = "operands.b";
            return status;
        }
    }
    if (!changed)
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
