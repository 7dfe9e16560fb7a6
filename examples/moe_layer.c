/* SPDX-License-Identifier: MIT */
/* A layer of a mixture of experts in five steps, which a CUDA graph replays
 * with other tokens at other experts:
 *
 *   tokens to the order of their experts and to NVFP4
 *   gates and ups, of all experts
 *   silu(gate) * up, to NVFP4
 *   down
 *   what the experts made of a token, weighted and added up
 *
 * moe_layer.h says where tokens go, and checks. Without a GPU, prepare the
 * kernels for one. */
#include <jitgemm.h>

#include "moe_layer.h"

static const int64_t up_n = 2 * INTERMEDIATE, up_k = HIDDEN;
static const int64_t down_n = HIDDEN, down_k = INTERMEDIATE;

static const jitgemm_problem up_problem = {.size = sizeof up_problem,
                                           .groups = EXPERTS,
                                           .n = &up_n,
                                           .k = &up_k,
                                           .sizes = JITGEMM_SIZES_DEVICE,
                                           .max_rows = ROWS};
static const jitgemm_problem down_problem = {.size = sizeof down_problem,
                                             .groups = EXPERTS,
                                             .n = &down_n,
                                             .k = &down_k,
                                             .sizes = JITGEMM_SIZES_DEVICE,
                                             .max_rows = ROWS};

enum { SORT, ACTIVATE, COMBINE, STEPS };
static const jitgemm_conversion_options options[STEPS] = {
    [SORT] = {.size = sizeof *options, .flags = JITGEMM_GATHER},
    [ACTIVATE] = {.size = sizeof *options, .activation = JITGEMM_SWIGLU},
    [COMBINE] = {.size = sizeof *options,
                 .flags = JITGEMM_COMBINE,
                 .c_type = JITGEMM_F32}};

/* Device memory. */
struct layer {
    struct matrix up, down; /* those of all experts, one after the other */
    struct routing *routing;
    void *x;        /* TOKENS x HIDDEN, f16 */
    void *a, *sfa;  /* quantized: of tokens, then of what is activated */
    void *c;        /* ROWS x what a product makes, f16 */
    void *out;      /* TOKENS x HIDDEN, f32 */
    float *scales;  /* EXPERTS multipliers of each quantization, then alphas */
    void *workspace;
    size_t workspace_bytes;
    jitgemm_fault *fault;
    jitgemm_plan *up_plan, *down_plan;
    jitgemm_conversion *steps[STEPS];
};

static void *device_memory(size_t bytes)
{
    void *zeros = allocate(bytes), *device = to_device(zeros, bytes);

    free(zeros);
    return device;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void make_layer(jitgemm_context *context, struct layer *l,
                       const uint16_t *x)
{
    int64_t widest = HIDDEN > INTERMEDIATE ? HIDDEN : INTERMEDIATE;
    int64_t scale_rows =
        jitgemm_scale_rows(JITGEMM_PLACE_TIGHT, ROWS, EXPERTS);
    float scales[4 * EXPERTS];
    size_t bytes;

    must(jitgemm_plan_create(context, &up_problem, &l->up_plan));
    must(jitgemm_plan_create(context, &down_problem, &l->down_plan));
    for (int i = 0; i < STEPS; i++)
        must(jitgemm_conversion_create(context, &options[i], &l->steps[i]));
    must(jitgemm_plan_workspace(l->up_plan, &l->workspace_bytes));
    must(jitgemm_plan_workspace(l->down_plan, &bytes));
    l->workspace_bytes = larger(l->workspace_bytes, bytes);
    l->workspace =
        l->workspace_bytes ? device_memory(l->workspace_bytes) : NULL;
    /* n is a multiple of 128, so the blocked scales of the experts are one
     * after the other, too. */
    l->up = make_matrix(EXPERTS * up_n, up_k, 1);
    l->down = make_matrix(EXPERTS * down_n, down_k, 2);
    for (int e = 0; e < EXPERTS; e++) {
        scales[e] = scale_x;
        scales[EXPERTS + e] = scale_h;
        scales[2 * EXPERTS + e] = l->up.tensor_scale / scale_x;
        scales[3 * EXPERTS + e] = l->down.tensor_scale / scale_h;
    }
    l->scales = to_device(scales, sizeof scales);
    l->routing = device_memory(sizeof *l->routing);
    l->x = to_device(x, TOKENS * HIDDEN * sizeof *x);
    l->a = device_memory((size_t)(ROWS * widest / 2));
    l->sfa = device_memory(jitgemm_scale_bytes(scale_rows, widest));
    l->c = device_memory((size_t)(ROWS * (up_n > down_n ? up_n : down_n)) * 2);
    l->out = device_memory(TOKENS * HIDDEN * sizeof(float));
    l->fault = device_memory(sizeof *l->fault);
}

static void free_layer(struct layer *l)
{
    const void *all[] = {l->routing, l->x,      l->a,         l->sfa,  l->c,
                         l->out,     l->scales, l->workspace, l->fault};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free_device(all[i]);
    free_matrix(&l->up);
    free_matrix(&l->down);
    for (int i = 0; i < STEPS; i++)
        jitgemm_conversion_destroy(l->steps[i]);
    jitgemm_plan_destroy(l->up_plan);
    jitgemm_plan_destroy(l->down_plan);
}

/* l->a and l->sfa times weights, to l->c. */
static void multiply(const struct layer *l, const jitgemm_plan *plan,
                     const struct matrix *weights, const float *alpha,
                     CUstream stream)
{
    jitgemm_expert_arguments arguments = {
        .size = sizeof arguments,
        .a = l->a,
        .sfa = l->sfa,
        .b = weights->device_values,
        .sfb = weights->device_scales,
        .c = l->c,
        .alpha = alpha,
        .rows = l->routing->offsets, /* an address, nothing is read here */
        .fault = l->fault,
        .workspace = l->workspace,
        .workspace_bytes = l->workspace_bytes};

    must(jitgemm_run_experts(plan, &arguments, stream));
}

static void run_layer(const struct layer *l, CUstream stream)
{
    jitgemm_conversion_arguments quantize = {.size = sizeof quantize,
                                             .groups = EXPERTS,
                                             .k = HIDDEN,
                                             .max_rows = ROWS,
                                             .x = l->x,
                                             .rows = l->routing->offsets,
                                             .scale = l->scales,
                                             .values = l->a,
                                             .scales = l->sfa,
                                             .fault = l->fault,
                                             .gather = l->routing->token,
                                             .x_rows = TOKENS};
    jitgemm_conversion_arguments activate = {.size = sizeof activate,
                                             .groups = EXPERTS,
                                             .k = INTERMEDIATE,
                                             .max_rows = ROWS,
                                             .x = l->c,
                                             .rows = l->routing->offsets,
                                             .scale = l->scales + EXPERTS,
                                             .values = l->a,
                                             .scales = l->sfa,
                                             .fault = l->fault};
    jitgemm_conversion_arguments combine = {.size = sizeof combine,
                                            .groups = 1,
                                            .top_k = TOP_K,
                                            .k = HIDDEN,
                                            .max_rows = TOKENS,
                                            .x = l->c,
                                            .scale = l->routing->weight[0],
                                            .values = l->out,
                                            .fault = l->fault,
                                            .gather = l->routing->row[0],
                                            .x_rows = ROWS};

    must(jitgemm_conversion_run(l->steps[SORT], &quantize, stream));
    multiply(l, l->up_plan, &l->up, l->scales + 2 * EXPERTS, stream);
    must(jitgemm_conversion_run(l->steps[ACTIVATE], &activate, stream));
    multiply(l, l->down_plan, &l->down, l->scales + 3 * EXPERTS, stream);
    must(jitgemm_conversion_run(l->steps[COMBINE], &combine, stream));
}

static CUgraphExec capture(const struct layer *l, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;

    must_cuda(cuda.cuStreamBeginCapture(stream,
                                        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    run_layer(l, stream);
    must_cuda(cuda.cuStreamEndCapture(stream, &graph));
    must_cuda(cuda.cuGraphInstantiate(&exec, graph, 0));
    must_cuda(cuda.cuGraphDestroy(graph));
    return exec;
}

/* Replays it with tokens at other experts each time. */
static int replay(jitgemm_context *context, CUstream stream)
{
    static uint16_t x[TOKENS * HIDDEN];
    static float out[TOKENS * HIDDEN];
    struct layer layer;
    double worst = 0;
    uint32_t random = 5;
    CUgraphExec graph;

    for (int i = 0; i < TOKENS * HIDDEN; i++) { /* 1/2 to 1 and -1/2 to -1 */
        random = random * 1664525u + 1013904223u;
        x[i] = (uint16_t)((random >> 16 & 0x83ff) | 0x3800);
    }
    make_layer(context, &layer, x);
    graph = capture(&layer, stream);
    for (uint32_t i = 0; i < 3; i++) {
        struct routing routing = route(i);
        jitgemm_fault fault;

        must_cuda(cuda.cuMemcpyHtoD((uintptr_t)layer.routing, &routing,
                                    sizeof routing));
        must_cuda(cuda.cuGraphLaunch(graph, stream));
        must_cuda(cuda.cuStreamSynchronize(stream));
        from_device(out, layer.out, sizeof out);
        from_device(&fault, layer.fault, sizeof fault);
        if (fault.code)
            printf("fault %d\n", (int)fault.code);
        worst = fmax(worst, fault.code ? INFINITY
                                       : distance(&layer.up, &layer.down, x,
                                                  &routing, out));
    }
    printf("largest distance from the host's result: %.4f\n", worst);
    must_cuda(cuda.cuGraphExecDestroy(graph));
    free_layer(&layer);
    return worst < 0.04 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Fills the cache, so that a program that has a GPU compiles nothing. */
static void prepare_only(void)
{
    jitgemm_context_options arch = {.size = sizeof arch, .arch = "sm_90a"};
    const jitgemm_problem *problems[] = {&up_problem, &down_problem};
    jitgemm_kernel kernel = {.size = sizeof kernel};
    jitgemm_context *context;

    must(jitgemm_context_create(&arch, &context));
    for (int p = 0; p < 2; p++) {
        jitgemm_status status;

        for (int32_t i = 0; !(
                 status = jitgemm_prepare(context, problems[p], i, &kernel));
             i++)
            puts(kernel.name);
        if (status != JITGEMM_E_NOT_FOUND) /* which ends the list */
            must(status);
    }
    for (int i = 0; i < STEPS; i++) {
        must(jitgemm_conversion_prepare(context, &options[i], &kernel));
        puts(kernel.name);
    }
    jitgemm_context_destroy(context);
    puts("The kernels are ready, but there is no GPU to launch them on.");
}

int main(void)
{
    jitgemm_context *context;
    jitgemm_status status = jitgemm_context_create(NULL, &context);
    CUstream stream;
    int result;

    if (status == JITGEMM_E_NO_DRIVER || status == JITGEMM_E_NO_DEVICE) {
        prepare_only();
        return EXIT_SUCCESS;
    }
    must(status);
    cuda_open(); /* device 0, which is the context's default too */
    must_cuda(cuda.cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    result = replay(context, stream);
    must_cuda(cuda.cuStreamDestroy(stream));
    jitgemm_context_destroy(context);
    return result;
}
