/* SPDX-License-Identifier: MIT */
/* Times the library on a GPU, next to cuBLAS in the same process and to what
 * the GPU was measured to allow. Each case is verified first. */
#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "kernels.h"
#include "limits.h"
#include "options.h"
#include "peers.h"
#include "product.h"
#include "report.h"
#include "test.h"
#include "timing.h"

static struct options options;
static bool with_peers;
static struct result results[MOST_CASES];

struct sets {
    struct product product[TIMING_SETS];
    jitgemm_plan *plan[TIMING_SETS];
    int count;
};

static bool launch(void *user, int set)
{
    const struct sets *sets = user;

    JITGEMM(jitgemm_run(sets->plan[set], gpu.stream));
    return true;
}

static void make_sets(struct sets *sets, const struct gemm_case *c,
                      jitgemm_context *context)
{
    sets->count = timing_sets(case_bytes(c));
    product_make(&sets->product[0], c->groups, c->m, c->n, c->k, REF_FULL,
                 true, 1);
    if (options.a_type)
        product_make_a(&sets->product[0], options.a_type, REF_FULL, 1);
    if (options.b_type)
        product_make_mxfp4(&sets->product[0], REF_FULL, 1);
    sets->product[0].c_type = options.c_type;
    sets->product[0].flags = options.flags;
    for (int i = 0; i < sets->count; i++) {
        if (i > 0) {
            sets->product[i] = sets->product[0];
            product_upload(&sets->product[i]);
        }
        product_poison(&sets->product[i]);
        sets->plan[i] =
            product_plan(&sets->product[i], context,
                         options.configured ? &options.config : NULL);
        launch(sets, i);
    }
    gpu_sync();
}

static void free_sets(struct sets *sets)
{
    for (int i = 0; i < sets->count; i++) {
        jitgemm_plan_destroy(sets->plan[i]);
        if (i > 0)
            product_release(&sets->product[i]);
    }
    product_free(&sets->product[0]);
}

static void measure_peers(const struct product *product, struct result *result)
{
    struct times times;
    int64_t wrong;

    for (int i = 0; i < PEERS; i++) {
        if (!peer_measure(&peers[i], product, &times, &wrong))
            continue;
        if (wrong)
            fprintf(stderr, "%s, %s: %lld wrong\n", result->c->name,
                    peers[i].name, (long long)wrong);
        CHECK_INT(wrong, 0);
        if (!wrong)
            figure_add(&result->peers[i], &times);
    }
}

static void run_case(jitgemm_context *context, struct result *result)
{
    static struct sets sets;
    jitgemm_kernel kernel = {.size = sizeof kernel};
    struct times times;
    double worst;
    int64_t bad;
    bool timed;

    make_sets(&sets, result->c, context);
    bad = product_check(&sets.product[0], 128, false, &worst);
    if (bad)
        fprintf(stderr, "%s: %lld wrong\n", result->c->name, (long long)bad);
    CHECK_INT(bad, 0);
    for (int i = 0;
         jitgemm_plan_kernel(sets.plan[0], i, &kernel) == JITGEMM_OK; i++)
        memcpy(result->kernel, kernel.name, sizeof result->kernel);
    timed = timing_measure(launch, &sets, sets.count, &times);
    CHECK(timed);
    if (timed)
        figure_add(&result->ours, &times);
    if (with_peers && !options.a_type && !options.c_type)
        measure_peers(&sets.product[0], result);
    free_sets(&sets);
}

static void run_all(jitgemm_context *context)
{
    struct limits limits;

    CHECK(limits_measure(context, with_peers, &limits));
    if (!(limits.bandwidth > 0))
        return;
    printf("%s: %.0f TFLOP/s of f16, %.2f TB/s\n", gpu.name, limits.rate,
           limits.bandwidth);
    for (int run = 0; run < options.runs; run++) {
        report_head();
        for (int i = 0; i < options.case_count; i++) {
            results[i].c = options.cases[i];
            run_case(context, &results[i]);
            report_line(&results[i], &limits);
            if (options.json) /* at once, lest it be lost */
                CHECK(report_json(options.json, results, options.case_count,
                                  &limits));
        }
    }
}

int main(int count, char **arguments)
{
    jitgemm_context *context;

    (void)count;
    if (!options_read(arguments, &options))
        return 2;
    if (options.cases_only) {
        report_cases(options.cases, options.case_count);
        return 0;
    }
    if (!gpu_open() || !kernels_open())
        return TEST_SKIP;
    with_peers = peers_open();
    JITGEMM(jitgemm_context_create(NULL, &context));
    run_all(context);
    jitgemm_context_destroy(context);
    return test_end();
}
