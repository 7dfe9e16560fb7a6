/* SPDX-License-Identifier: MIT */
/* Of bf16 rows to bf16 tokens; runs in turn read different rows, which do not
 * fit the L2, unless they are few. */
#include "combine_bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"
#include "graph_time.h"
#include "reference.h"

enum { TOP_K = 8, BUFFERS = 5 };

struct timed {
    jitgemm_conversion *conversion;
    jitgemm_conversion_arguments arguments[BUFFERS];
};

static void run(const void *user, int i)
{
    const struct timed *t = user;

    JITGEMM(jitgemm_conversion_run(t->conversion, &t->arguments[i % BUFFERS],
                                   gpu.stream));
}

static void measure(jitgemm_context *context, int32_t tokens, int64_t k)
{
    jitgemm_conversion_options options = {.size = sizeof options,
                                          .flags = JITGEMM_COMBINE,
                                          .x_type = JITGEMM_BF16,
                                          .c_type = JITGEMM_BF16};
    int64_t rows = (int64_t)tokens * TOP_K;
    double bytes = 2.0 * (double)((rows + tokens) * k) + 8.0 * (double)rows;
    int32_t *gather = calloc((size_t)rows, sizeof *gather);
    float *weights = calloc((size_t)rows, sizeof *weights);
    uint64_t seed = 5;
    struct timed t;
    double us;

    for (int64_t i = 0; i < rows; i++) {
        gather[i] = (int32_t)(i * 7919 % rows);
        weights[i] = (float)(int32_t)ref_random(&seed) * 0x1p-31f;
    }
    JITGEMM(jitgemm_conversion_create(context, &options, &t.conversion));
    for (int i = 0; i < BUFFERS; i++)
        t.arguments[i] = (jitgemm_conversion_arguments){
            .size = sizeof t.arguments[i],
            .groups = 1,
            .top_k = TOP_K,
            .k = k,
            .max_rows = tokens,
            .x = gpu_alloc((size_t)(rows * k * 2)),
            .x_rows = rows,
            .gather = gpu_upload(gather, (size_t)rows * sizeof *gather),
            .scale = gpu_upload(weights, (size_t)rows * sizeof *weights),
            .values = gpu_alloc((size_t)(tokens * k * 2))};
    us = graph_time(run, &t);
    printf("combine %5d tokens of %d rows x %4lld            %8.2f us, "
           "%6.0f GB/s\n",
           (int)tokens, TOP_K, (long long)k, us, bytes / us * 1e-3);
    fflush(stdout);
    for (int i = 0; i < BUFFERS; i++) {
        gpu_free((void *)(uintptr_t)t.arguments[i].x);
        gpu_free((void *)(uintptr_t)t.arguments[i].gather);
        gpu_free((void *)(uintptr_t)t.arguments[i].scale);
        gpu_free(t.arguments[i].values);
    }
    jitgemm_conversion_destroy(t.conversion);
    free(gather);
    free(weights);
}

void combine_bench(jitgemm_context *context)
{
    for (int32_t tokens = 8; tokens <= 4096; tokens *= 8)
        measure(context, tokens, 7168);
    measure(context, 4096, 2048);
}
