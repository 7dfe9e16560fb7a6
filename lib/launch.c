/* SPDX-License-Identifier: MIT */
/* A plan owns one block of device memory: the table of groups, which bind
 * uploads as one image, and behind it the workspace of decoded activations. */
#include "launch.h"

#include <assert.h>
#include <base/group.h>
#include <stdlib.h>
#include <string.h>

#include "ready.h"

#define WORKSPACE_ALIGN 1024 /* a swizzle atom */
#define ATOM_BYTES 1024      /* 8 tokens x 64 k, f16 */
#define ATOM_THREADS 64      /* of sm90_activations that fill one */
#define MOST (1 << 30)       /* tiles, units: a sum with a grid fits an int */

static_assert(sizeof(CUtensorMap) == sizeof((struct jg_group *)0)->b_map,
              "a tensor map fills its field");
static_assert(sizeof(struct jg_group) % 64 == 0, "tensor maps are aligned");

/* ---- Creation --------------------------------------------------------- */

/* The image: groups, then both prefix sums. */
static size_t image_bytes(int32_t groups)
{
    return (size_t)groups * sizeof(struct jg_group) +
           2 * ((size_t)groups + 1) * sizeof(int);
}

struct rank {
    int64_t time; /* of a tile */
    int32_t group;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return x->group < y->group ? -1 : 1;
}

/* The longest tiles first, so that the short ones fill what is left. */
static jitgemm_status sort_groups(struct jitgemm_plan *plan)
{
    int32_t groups = plan->problem.groups;
    struct rank *ranks = malloc((size_t)groups * sizeof *ranks);

    plan->order = malloc((size_t)groups * sizeof *plan->order);
    if (!ranks || !plan->order) {
        free(ranks);
        return jg_fail(JITGEMM_E_MEMORY, "no memory for a table of %d groups",
                       (int)groups);
    }
    for (int32_t g = 0; g < groups; g++)
        ranks[g] = (struct rank){
            jg_plan_tile_time(&plan->config, plan->problem.sizes[g]), g};
    qsort(ranks, (size_t)groups, sizeof *ranks, compare_ranks);
    for (int32_t i = 0; i < groups; i++)
        plan->order[i] = ranks[i].group;
    free(ranks);
    return JITGEMM_OK;
}

/* Fills the sizes of the image; E_SHAPE if all is too much. */
static jitgemm_status fill_sizes(struct jitgemm_plan *plan, size_t *workspace)
{
    int32_t groups = plan->problem.groups;
    struct jg_group *rows = (struct jg_group *)plan->image;
    int *first_tile = (int *)(rows + groups);
    int *first_unit = first_tile + groups + 1;
    int64_t tiles = 0, units = 0;

    for (int32_t i = 0; i < groups; i++) {
        int32_t g = plan->order[i];
        struct jg_size size = plan->problem.sizes[g];

        rows[i].m = size.m;
        rows[i].n = size.n;
        rows[i].k = size.k;
        rows[i].chunks = (int)jg_plan_chunks(&plan->config, size);
        rows[i].tile_rows = jg_plan_tile_rows(&plan->config, size);
        rows[i].activations = (unsigned long long)units * ATOM_BYTES;
        first_tile[i] = (int)tiles;
        first_unit[i] = (int)units;
        tiles += jg_plan_tiles(&plan->config, size);
        units += jg_plan_units(&plan->config, size);
        if (tiles > MOST || units > MOST)
            return jg_fail_argument(
                JITGEMM_E_SHAPE, "problem.groups", g, groups, 0,
                "problem.groups up to %d need %lld tiles and %lld KiB of "
                "workspace; both must be below 2^30",
                (int)g, (long long)tiles, (long long)units);
    }
    first_tile[groups] = (int)tiles;
    first_unit[groups] = (int)units;
    plan->table.count = groups;
    plan->table.tiles = (int)tiles;
    plan->table.units = (int)units;
    *workspace = plan->config.fused ? 0 : (size_t)units * ATOM_BYTES;
    return JITGEMM_OK;
}

static jitgemm_status make_kernels(struct jitgemm_plan *plan)
{
    char problem[JG_PROBLEM_TEXT];

    jg_problem_print(&plan->problem, problem);
    plan->kernels = jg_spec_count(&plan->config);
    for (int i = 0; i < plan->kernels; i++) {
        struct jg_spec spec;
        jitgemm_status status;

        jg_spec_make(&plan->config, &plan->context->device, i, &spec);
        status = jg_ready_make(plan->context, &spec, problem,
                               &plan->launches[i].function, &plan->reports[i]);
        if (status != JITGEMM_OK)
            return status;
        plan->launches[i].threads = (unsigned)spec.threads;
        plan->launches[i].shared_bytes = (unsigned)spec.shared_bytes;
    }
    return JITGEMM_OK;
}

static void size_grids(struct jitgemm_plan *plan)
{
    int last = plan->kernels - 1, tiles = plan->table.tiles;
    int resident = plan->context->device.sms * plan->config.blocks;

    plan->launches[last].blocks =
        (unsigned)(tiles < resident ? tiles : resident);
    if (last > 0) {
        int units_a_block = (int)plan->launches[0].threads / ATOM_THREADS;

        plan->launches[0].blocks =
            (unsigned)((plan->table.units - 1) / units_a_block + 1);
    }
}

static jitgemm_status allocate(struct jitgemm_plan *plan, size_t workspace)
{
    const struct jg_cuda *cuda = plan->context->cuda;
    int32_t groups = plan->problem.groups;
    size_t behind = (plan->image_bytes + WORKSPACE_ALIGN - 1) /
                    WORKSPACE_ALIGN * WORKSPACE_ALIGN;
    unsigned char *memory;
    CUresult result = cuda->cuMemAlloc(&plan->memory, behind + workspace);

    if (result != CUDA_SUCCESS) {
        jitgemm_status status = jg_driver_fail(cuda, result, "cuMemAlloc");

        jg_error()->got = (int64_t)(behind + workspace);
        return status;
    }
    memory = (unsigned char *)(uintptr_t)plan->memory;
    plan->table.groups = (struct jg_group *)memory;
    plan->table.first_tile =
        (int *)(memory + (size_t)groups * sizeof(struct jg_group));
    plan->table.first_unit = plan->table.first_tile + groups + 1;
    plan->table.workspace = memory + behind;
    return JITGEMM_OK;
}

/* In the CUDA context, relaxed. */
static jitgemm_status build(struct jitgemm_plan *plan)
{
    size_t workspace = 0;
    jitgemm_status status;

    plan->image_bytes = image_bytes(plan->problem.groups);
    plan->image = calloc(1, plan->image_bytes);
    plan->next = malloc(plan->image_bytes);
    if (!plan->image || !plan->next)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for a table of %d groups",
                       (int)plan->problem.groups);
    status = sort_groups(plan);
    if (status == JITGEMM_OK)
        status = fill_sizes(plan, &workspace);
    if (status == JITGEMM_OK)
        status = make_kernels(plan);
    if (status == JITGEMM_OK)
        status = allocate(plan, workspace);
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
                       CUstream stream)
{
    struct jg_table table = plan->table;
    void *parameters[] = {&table};
    /* The product may start while the activations are being decoded; it waits
     * for them before its first copy. */
    CUlaunchAttribute overlap = {
        .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        .value.programmaticStreamSerializationAllowed = 1,
    };
    CUlaunchConfig config = {
        .gridDimX = plan->launches[index].blocks,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = plan->launches[index].threads,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = plan->launches[index].shared_bytes,
        .hStream = stream,
        .attrs = &overlap,
        .numAttrs = index > 0 ? 1 : 0,
    };

    return plan->context->cuda->cuLaunchKernelEx(
        &config, plan->launches[index].function, parameters, NULL);
}

jitgemm_status jg_launch_run(const jitgemm_plan *plan, CUstream stream)
{
    struct jg_visit visit;
    CUresult result = CUDA_SUCCESS;
    jitgemm_status status;

    if (!plan->bound)
        return jg_fail(JITGEMM_E_NOT_READY,
                       "no operands are bound: call jitgemm_plan_bind() first");
    if (!plan->table.tiles)
        return JITGEMM_OK;
    status = jg_context_enter(plan->context, &visit);
    if (status != JITGEMM_OK)
        return status;
    for (int i = 0; i < plan->kernels && result == CUDA_SUCCESS; i++)
        result = launch(plan, i, stream);
    if (result != CUDA_SUCCESS)
        status = jg_driver_fail(plan->context->cuda, result,
                                "cuLaunchKernelEx");
    jg_context_leave(plan->context, &visit);
    return status;
}
