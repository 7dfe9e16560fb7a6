/* SPDX-License-Identifier: MIT */
/* What a process pays before its first product: the context, then everything
 * up to the first result. Run it twice over one cache: cold, then warm. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdio.h>
#include <time.h>

#include "cases.h"
#include "gpu.h"
#include "product.h"
#include "test.h"

static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

int main(void)
{
    const struct gemm_case *c = case_find("gm1");
    struct product p;
    jitgemm_problem problem;
    jitgemm_operands operands;
    jitgemm_context *context;
    jitgemm_plan *plan;
    jitgemm_kernel kernel = {.size = sizeof kernel};
    double start, created, planned, done;

    if (!gpu_open())
        return TEST_SKIP;
    product_make(&p, c->groups, c->m, c->n, c->k, REF_PUBLIC, false, 1);
    problem = product_problem(&p);
    operands = product_operands(&p);
    start = now_ms();
    JITGEMM(jitgemm_context_create(NULL, &context));
    created = now_ms();
    JITGEMM(jitgemm_plan_create(context, &problem, &plan));
    planned = now_ms();
    JITGEMM(jitgemm_plan_bind(plan, &operands, gpu.stream));
    JITGEMM(jitgemm_run(plan, gpu.stream));
    gpu_sync();
    done = now_ms();
    for (int i = 0; jitgemm_plan_kernel(plan, i, &kernel) == JITGEMM_OK; i++)
        printf("%s: %s, %.1f ms\n", kernel.name,
               kernel.source == JITGEMM_SOURCE_DISK ? "disk" : "compiled",
               kernel.ms);
    printf("context %.1f ms, then plan %.1f ms, first run %.1f ms\n",
           created - start, planned - created, done - planned);
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
    product_free(&p);
    return 0;
}
