/* SPDX-License-Identifier: MIT */
/* One layer's experts; all plans use the same memory, of which the weights are
 * as good as never in the L2. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "experts_bench.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gpu.h"
#include "graph_time.h"
#include "test.h"

struct layer {
    const char *name;
    int32_t groups, rows; /* of each group */
    int64_t n, k;
    int64_t spare; /* times as many rows may come */
};

static const struct layer layers[] = {
    {"decode, 32 of 8", 32, 8, 4096, 7168, 1},
    {"the same, room for 64 of each", 32, 8, 4096, 7168, 8},
    {"256 of 2", 256, 2, 4096, 7168, 1},
    {"8 of 120", 8, 120, 4096, 7168, 1},
    {"8 of 120", 8, 120, 7168, 2048, 1},
    {"2 of 256", 2, 256, 4096, 1536, 1},
    {"128 of 32", 128, 32, 1536, 2048, 1},
    {"prefill, 16 of 512", 16, 512, 4096, 7168, 1},
    {"the same, room for 1024 of each", 16, 512, 4096, 7168, 2},
};

struct runs {
    jitgemm_plan *plan;
    jitgemm_expert_arguments arguments;
};

static void run_device(const void *user, int i)
{
    const struct runs *runs = user;

    (void)i;
    JITGEMM(jitgemm_run_experts(runs->plan, &runs->arguments, gpu.stream));
}

static void run_host(const void *user, int i)
{
    (void)i;
    JITGEMM(jitgemm_run(user, gpu.stream));
}

/* Small values, scales of 1. */
static void *filled(int64_t bytes, int byte)
{
    void *memory = gpu_alloc((size_t)bytes);

    GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)memory, (unsigned char)byte,
                   (size_t)bytes));
    return memory;
}

static jitgemm_expert_arguments make_arguments(const struct layer *l)
{
    int64_t rows = (int64_t)l->groups * l->rows, most = rows * l->spare;
    int64_t scale_rows =
        jitgemm_scale_rows(JITGEMM_PLACE_TIGHT, most, l->groups);
    int32_t *offsets = calloc((size_t)l->groups + 1, sizeof *offsets);
    jitgemm_expert_arguments made = {
        .size = sizeof made,
        .a = filled(most * l->k / 2, 0x21),
        .sfa = filled((int64_t)jitgemm_scale_bytes(scale_rows, l->k), 0x38),
        .b = filled(l->groups * l->n * l->k / 2, 0x91),
        .sfb =
            filled((int64_t)jitgemm_scale_bytes(l->n, l->k) * l->groups, 0x38),
        .c = filled(2 * most * l->n, 0),
        .fault = filled(sizeof(jitgemm_fault), 0)};

    for (int32_t g = 0; g <= l->groups; g++)
        offsets[g] = g * l->rows;
    made.rows = gpu_upload(offsets, 4 * ((size_t)l->groups + 1));
    free(offsets);
    return made;
}

enum { CALLS = 301, AT_ONCE = 7 }; /* so few that no queue is full */

/* Microseconds that the host takes for a call, the median. */
static double call_time(const struct runs *runs)
{
    double us[CALLS];

    for (int i = 0; i < CALLS; i++) {
        struct timespec begin, end;

        if (i % AT_ONCE == 0)
            gpu_sync();
        clock_gettime(CLOCK_MONOTONIC, &begin);
        run_device(runs, i);
        clock_gettime(CLOCK_MONOTONIC, &end);
        us[i] = (double)(end.tv_sec - begin.tv_sec) * 1e6 +
                (double)(end.tv_nsec - begin.tv_nsec) * 1e-3;
    }
    gpu_sync();
    return median(us, CALLS);
}

struct device_times {
    double us, call_us;
};

static struct device_times
time_device(jitgemm_context *context, const struct layer *l,
            jitgemm_expert_arguments *arguments, uint32_t flags)
{
    int64_t rows = (int64_t)l->groups * l->rows;
    jitgemm_problem problem = {.size = sizeof problem,
                               .flags = flags,
                               .groups = l->groups,
                               .n = &l->n,
                               .k = &l->k,
                               .sizes = JITGEMM_SIZES_DEVICE,
                               .max_rows = rows * l->spare,
                               .hint_rows = rows};
    struct device_times made;
    struct runs runs;

    JITGEMM(jitgemm_plan_create(context, &problem, &runs.plan));
    JITGEMM(jitgemm_plan_workspace(runs.plan, &arguments->workspace_bytes));
    arguments->workspace = gpu_alloc(arguments->workspace_bytes);
    runs.arguments = *arguments;
    made.us = graph_time(run_device, &runs);
    made.call_us = call_time(&runs);
    jitgemm_plan_destroy(runs.plan);
    gpu_free(arguments->workspace);
    return made;
}

/* The same rows; scales where whole 128 of each group end. */
static double time_host(jitgemm_context *context, const struct layer *l,
                        const jitgemm_expert_arguments *from)
{
    size_t groups = (size_t)l->groups;
    int64_t *sizes = calloc(3 * groups, sizeof *sizes);
    const void **in = calloc(5 * groups, sizeof *in);
    jitgemm_problem problem = {.size = sizeof problem,
                               .groups = l->groups,
                               .m = sizes,
                               .n = sizes + groups,
                               .k = sizes + 2 * groups};
    jitgemm_operands operands = {.size = sizeof operands,
                                 .a = in,
                                 .sfa = in + groups,
                                 .b = in + 2 * groups,
                                 .sfb = in + 3 * groups,
                                 .c = (void **)(in + 4 * groups)};
    size_t sfa = jitgemm_scale_bytes(l->rows, l->k);
    size_t sfb = jitgemm_scale_bytes(l->n, l->k);
    jitgemm_plan *plan;
    double us;

    for (size_t g = 0; g < groups; g++) {
        size_t row = g * (size_t)l->rows, n = (size_t)l->n, k = (size_t)l->k;

        sizes[g] = l->rows;
        sizes[groups + g] = l->n;
        sizes[2 * groups + g] = l->k;
        in[g] = (const char *)from->a + row * k / 2;
        in[groups + g] = (const char *)from->sfa + g * sfa;
        in[2 * groups + g] = (const char *)from->b + g * n * k / 2;
        in[3 * groups + g] = (const char *)from->sfb + g * sfb;
        in[4 * groups + g] = (const char *)from->c + row * n * 2;
    }
    JITGEMM(jitgemm_plan_create(context, &problem, &plan));
    JITGEMM(jitgemm_plan_bind(plan, &operands, gpu.stream));
    us = graph_time(run_host, plan);
    jitgemm_plan_destroy(plan);
    free(sizes);
    free(in);
    return us;
}

static void measure(jitgemm_context *context, const struct layer *l)
{
    jitgemm_expert_arguments a = make_arguments(l);
    struct device_times device = time_device(context, l, &a, 0);
    double early =
        time_device(context, l, &a, JITGEMM_DEPENDENT_LAUNCH).us;
    double host = time_host(context, l, &a);
    const void *all[] = {a.a, a.sfa, a.b, a.sfb, a.c, a.rows, a.fault};
    jitgemm_fault fault;

    gpu_download(&fault, a.fault, sizeof fault);
    CHECK_INT(fault.code, 0);
    printf("%-30s x%5lld x%5lld %9.2f us, dependent %9.2f, host's sizes "
           "%9.2f; a call %5.2f\n",
           l->name, (long long)l->n, (long long)l->k, device.us, early, host,
           device.call_us);
    fflush(stdout);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free((void *)(uintptr_t)all[i]);
}

void experts_bench(jitgemm_context *context)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        measure(context, &layers[i]);
}
