/* SPDX-License-Identifier: MIT */
/* A plan owns one block of device memory: the table of groups, which bind
 * uploads as one image, and behind it the kernels' workspace. */
#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "ready.h"

/* ---- Creation --------------------------------------------------------- */

static jitgemm_status make_kernels(struct jitgemm_plan *plan)
{
    char problem[JG_PROBLEM_TEXT];

    jg_problem_print(&plan->problem, problem);
    plan->kernels = jg_spec_count(&plan->config);
    for (int i = 0; i < plan->kernels; i++) {
        struct jg_spec spec;
        jitgemm_status status;

        jg_spec_make(&plan->config, &plan->device, i, &spec);
        status = jg_ready_make(plan->context, &spec, problem,
                               &plan->launches[i].function, &plan->reports[i]);
        if (status != JITGEMM_OK)
            return status;
        plan->launches[i].threads = (unsigned)spec.threads;
        plan->launches[i].shared_bytes = (unsigned)spec.shared_bytes;
        plan->launches[i].cluster = (unsigned)spec.cluster;
    }
    return JITGEMM_OK;
}

/* Of the kernel that decodes activations: as many as run at once; each takes a
 * unit at a time with 32 threads. */
static unsigned decoding_blocks(const struct jitgemm_plan *plan,
                                unsigned threads)
{
    int most = 8 * plan->device.sms;
    int blocks = (plan->table.units - 1) / (int)(threads / 32) + 1;

    return (unsigned)(blocks < most ? blocks : most);
}

/* Blocks that would find room beside others of their kernel on one
 * multiprocessor need not be put there. Clusters stay whole: a configuration
 * with clusters has no more blocks than multiprocessors (jg_cut_allows). */
static void limit_grids(struct jitgemm_plan *plan)
{
    unsigned most = (unsigned)plan->device.sms;

    if (plan->device.sms == plan->context->device.sms)
        return;
    for (int i = 0; i < plan->kernels; i++)
        if (plan->launches[i].blocks > most)
            plan->launches[i].blocks = most;
}

static void size_grids(struct jitgemm_plan *plan)
{
    int last = plan->kernels - 1;

    if (plan->config.experts)
        plan->launches[0].blocks =
            1 + (plan->config.zero_tail ? (unsigned)plan->context->device.sms
                                        : 0);
    plan->launches[last].blocks = (unsigned)jg_table_blocks(
        &plan->config, &plan->device, plan->table.tiles);
    if (plan->table.units)
        plan->launches[last - 1].blocks =
            decoding_blocks(plan, plan->launches[last - 1].threads);
    limit_grids(plan);
}

static jitgemm_status allocate(struct jitgemm_plan *plan)
{
    const struct jg_cuda *cuda = plan->context->cuda;
    CUresult result = cuda->cuMemAlloc(&plan->memory, plan->layout.all);

    if (result != CUDA_SUCCESS) {
        jitgemm_status status = jg_driver_fail(cuda, result, "cuMemAlloc");

        jg_error()->got = (int64_t)plan->layout.all;
        return status;
    }
    jg_table_place(&plan->layout, (unsigned char *)(uintptr_t)plan->memory,
                   &plan->table);
    return JITGEMM_OK;
}

static jitgemm_status make_image(struct jitgemm_plan *plan)
{
    size_t groups = (size_t)plan->problem.groups;
    jitgemm_status status;

    plan->order = malloc(groups * sizeof *plan->order);
    if (!plan->order)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for a table of %zu groups",
                       groups);
    status = jg_table_order(&plan->config, &plan->problem, plan->order);
    if (status == JITGEMM_OK)
        status = jg_table_measure(&plan->config, &plan->device,
                                  &plan->problem, plan->order, &plan->table,
                                  &plan->layout);
    if (status != JITGEMM_OK)
        return status;
    plan->image = calloc(1, plan->layout.image);
    plan->next = malloc(plan->layout.image);
    if (!plan->image || !plan->next)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for a table of %zu groups",
                       groups);
    jg_table_fill(&plan->config, &plan->problem, plan->order, &plan->layout,
                  plan->image);
    return JITGEMM_OK;
}

/* Maps for a kernel to put addresses and rows into. */
static jitgemm_status make_maps(struct jitgemm_plan *plan)
{
    const void *somewhere = (const void *)(uintptr_t)JG_MAP_BYTES;
    struct jg_size size = plan->problem.sizes[0];
    const struct jg_group any = {.a = somewhere,
                                 .sfa = somewhere,
                                 .b = somewhere,
                                 .sfb = somewhere,
                                 .m = 1,
                                 .n = size.n,
                                 .k = size.k,
                                 .row_a =
                                     jg_problem_row_a(&plan->problem, size.k)};

    return jg_maps_encode(plan->context, &plan->config, &any, plan->maps);
}

/* In the CUDA context, relaxed. */
static jitgemm_status build(struct jitgemm_plan *plan)
{
    bool told = !plan->problem.on_device;
    jitgemm_status status = told                   ? make_image(plan)
                            : plan->config.experts ? make_maps(plan)
                                                   : JITGEMM_OK;

    if (status == JITGEMM_OK && !told)
        status = jg_table_measure(&plan->config, &plan->device,
                                  &plan->problem, NULL, &plan->table,
                                  &plan->layout);
    if (status == JITGEMM_OK)
        status = make_kernels(plan);
    if (status == JITGEMM_OK && told)
        status = allocate(plan);
    if (status == JITGEMM_OK)
        size_grids(plan);
    return status;
}

jitgemm_status jg_launch_create(jitgemm_context *context,
                                struct jg_problem *problem,
                                const struct jg_config *config,
                                jitgemm_plan **out)
{
    struct jitgemm_plan *plan;
    struct jg_visit visit;
    jitgemm_status status;

    if (!context->cuda)
        return jg_fail(JITGEMM_E_NO_DEVICE,
                       "the context was made for arch %s, without a GPU: it "
                       "can prepare kernels, but not make plans",
                       context->device.arch);
    plan = calloc(1, sizeof *plan);
    if (!plan)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for a plan");
    status = jg_context_enter_relaxed(context, &visit);
    if (status != JITGEMM_OK) {
        free(plan);
        return status;
    }
    plan->context = context;
    plan->device = jg_cut_device(problem, &context->device);
    plan->config = *config;
    plan->problem = *problem;
    memset(problem, 0, sizeof *problem);
    status = build(plan);
    jg_context_leave(context, &visit);
    if (status != JITGEMM_OK)
        jg_launch_destroy(plan);
    else
        *out = plan;
    return status;
}

void jg_launch_destroy(jitgemm_plan *plan)
{
    struct jg_visit visit;

    if (!plan)
        return;
    if (plan->memory &&
        jg_context_enter_relaxed(plan->context, &visit) == JITGEMM_OK) {
        plan->context->cuda->cuMemFree(plan->memory);
        jg_context_leave(plan->context, &visit);
    }
    jg_problem_free(&plan->problem);
    free(plan->image);
    free(plan->next);
    free(plan->order);
    free(plan);
}

bool jg_launch_kernel(const jitgemm_plan *plan, int32_t index,
                      jitgemm_kernel *kernel)
{
    if (index < 0 || index >= plan->kernels)
        return false;
    *kernel = plan->reports[index];
    return true;
}

/* ---- Running ---------------------------------------------------------- */

static CUresult launch(const struct jitgemm_plan *plan, int index,
                       void *parameter, CUstream stream)
{
    void *parameters[] = {parameter};
    CUlaunchAttribute attributes[2];
    CUlaunchConfig config = {
        .gridDimX = plan->launches[index].blocks,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = plan->launches[index].threads,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = plan->launches[index].shared_bytes,
        .hStream = stream,
        .attrs = attributes,
    };

    /* It may start while the one before is at work, and waits for that before
     * it uses what is made there. */
    if (index > 0 || plan->problem.dependent)
        attributes[config.numAttrs++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            .value.programmaticStreamSerializationAllowed = 1};
    if (plan->launches[index].cluster)
        attributes[config.numAttrs++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            .value.clusterDim = {plan->launches[index].cluster, 1, 1}};
    return plan->context->cuda->cuLaunchKernelEx(
        &config, plan->launches[index].function, parameters, NULL);
}

jitgemm_status jg_launch_run(const jitgemm_plan *plan, void *const *parameters,
                             struct jg_own_job *own, CUstream stream)
{
    struct jg_visit visit;
    CUresult result = CUDA_SUCCESS;
    jitgemm_status status;

    if (!plan->table.tiles)
        return JITGEMM_OK;
    status = jg_context_enter(plan->context, &visit);
    if (status != JITGEMM_OK)
        return status;
    if (own)
        status = jg_maps_encode_stacked(plan->context, &plan->config,
                                        &own->experts, own->b_map);
    for (int i = 0; i < plan->kernels && status == JITGEMM_OK &&
                    result == CUDA_SUCCESS;
         i++)
        result = launch(plan, i, parameters[i], stream);
    if (result != CUDA_SUCCESS)
        status = jg_driver_fail(plan->context->cuda, result,
                                "cuLaunchKernelEx");
    jg_context_leave(plan->context, &visit);
    return status;
}
