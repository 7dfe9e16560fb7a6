/* SPDX-License-Identifier: MIT */
/* Times the library on a GPU: each case is verified, then replayed from CUDA
 * graphs that rotate through more operands than the L2 holds.
 * bench [--json] [--config M,STEP,N,K,STAGES,BLOCKS,FUSED] [CASE...]: a table, or an
 * object a line. --config takes the place of the plan's choice. */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "gpu.h"
#include "launch.h"
#include "product.h"
#include "test.h"

#define ROTATED_BYTES 512e6 /* the L2 of an H200 has 60 MB */
#define MOST_SETS 24
#define REPLAYS 21
#define GRAPH_US 4000.0 /* a graph runs about as long: the clock ticks at .5 */

struct times {
    double median, low, high; /* us */
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double replay(CUgraphExec exec, CUevent *events)
{
    float ms;

    GPU(cuEventRecord(events[0], gpu.stream));
    GPU(cuGraphLaunch(exec, gpu.stream));
    GPU(cuEventRecord(events[1], gpu.stream));
    GPU(cuEventSynchronize(events[1]));
    GPU(cuEventElapsedTime(&ms, events[0], events[1]));
    return (double)ms * 1e3;
}

static CUgraphExec capture(jitgemm_plan **plans, int sets, int runs)
{
    CUgraph graph;
    CUgraphExec exec;

    GPU(cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < runs; i++)
        JITGEMM(jitgemm_run(plans[i % sets], gpu.stream));
    GPU(cuStreamEndCapture(gpu.stream, &graph));
    GPU(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static struct times measure(jitgemm_plan **plans, int sets)
{
    double us[REPLAYS], one;
    CUevent events[2];
    CUgraphExec exec = capture(plans, sets, sets);
    int runs;

    GPU(cuEventCreate(&events[0], CU_EVENT_DEFAULT));
    GPU(cuEventCreate(&events[1], CU_EVENT_DEFAULT));
    replay(exec, events);
    one = replay(exec, events) / sets;
    runs = (int)(GRAPH_US / one / sets + 1) * sets;
    exec = capture(plans, sets, runs);
    replay(exec, events);
    for (int i = 0; i < REPLAYS; i++)
        us[i] = replay(exec, events) / runs;
    qsort(us, REPLAYS, sizeof *us, compare);
    return (struct times){us[REPLAYS / 2], us[REPLAYS / 10],
                          us[REPLAYS - 1 - REPLAYS / 10]};
}

static void report(const struct gemm_case *c, struct times us,
                   const jitgemm_kernel *kernel, bool json)
{
    double tflops = case_flops(c) / us.median * 1e-6;
    double tbs = case_bytes(c) / us.median * 1e-6;

    if (json)
        printf("{\"case\": \"%s\", \"us\": %.2f, \"low\": %.2f, \"high\": "
               "%.2f, \"tflops\": %.1f, \"tbs\": %.3f, \"kernel\": \"%s\"}\n",
               c->name, us.median, us.low, us.high, tflops, tbs,
               kernel->name);
    else
        printf("%-14s %8.2f us (%.2f to %.2f) %6.1f TFLOP/s %5.2f TB/s  %s\n",
               c->name, us.median, us.low, us.high, tflops, tbs,
               kernel->name);
    fflush(stdout);
}

static void run_case(jitgemm_context *context, const struct gemm_case *c,
                     const struct jg_config *config, bool json)
{
    struct product set[MOST_SETS];
    jitgemm_plan *plans[MOST_SETS];
    jitgemm_kernel kernel = {.size = sizeof kernel};
    int sets = (int)(ROTATED_BYTES / case_bytes(c)) + 2;
    double worst;
    int64_t bad;

    sets = sets < MOST_SETS ? sets : MOST_SETS;
    product_make(&set[0], c->groups, c->m, c->n, c->k, REF_FULL, true, 1);
    for (int i = 0; i < sets; i++) {
        if (i > 0) {
            set[i] = set[0];
            product_upload(&set[i]);
        }
        product_poison(&set[i]);
        plans[i] = product_plan(&set[i], context, config);
    }
    JITGEMM(jitgemm_run(plans[0], gpu.stream));
    gpu_sync();
    bad = product_check(&set[0], 128, false, &worst);
    if (bad)
        fprintf(stderr, "%s: %lld wrong\n", c->name, (long long)bad);
    CHECK_INT(bad, 0);
    for (int i = 0; jitgemm_plan_kernel(plans[0], i, &kernel) == JITGEMM_OK;)
        i++; /* the last is the product */
    report(c, measure(plans, sets), &kernel, json);
    for (int i = 0; i < sets; i++) {
        jitgemm_plan_destroy(plans[i]);
        if (i > 0)
            product_release(&set[i]);
    }
    product_free(&set[0]);
}

static bool read_config(const char *text, struct jg_config *config)
{
    int fused;
    int count = sscanf(text, "%d,%d,%d,%d,%d,%d,%d", &config->tile_m,
                       &config->width_step,
                       &config->tile_n, &config->tile_k, &config->stages,
                       &config->blocks, &fused);

    config->family = JG_SM90;
    config->fused = fused != 0;
    return count == 7;
}

int main(int count, char **arguments)
{
    struct jg_config config = {0};
    const struct jg_config *chosen = NULL;
    bool json = false, all = true;
    jitgemm_context *context;

    if (!gpu_open())
        return TEST_SKIP;
    JITGEMM(jitgemm_context_create(NULL, &context));
    for (int i = 1; i < count; i++) {
        const struct gemm_case *c = case_find(arguments[i]);

        if (strcmp(arguments[i], "--json") == 0) {
            json = true;
        } else if (strcmp(arguments[i], "--config") == 0 && i + 1 < count) {
            CHECK(read_config(arguments[++i], &config));
            chosen = &config;
        } else {
            CHECK(c != NULL);
            all = false;
            if (c)
                run_case(context, c, chosen, json);
        }
    }
    for (size_t i = 0; i < cases_count && all; i++)
        if (cases[i].kind != CASE_TEST)
            run_case(context, &cases[i], chosen, json);
    jitgemm_context_destroy(context);
    if (json)
        return test_failures != 0;
    return test_end();
}
