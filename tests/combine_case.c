/* SPDX-License-Identifier: MIT */
#include "combine_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "reference.h"

enum { X_ROWS = 11, POISON = 0xa5 };

struct arrays { /* of the host */
    uint8_t *x, *want;
    int32_t *gather;
    float *weights;
    size_t x_bytes, c_bytes, count; /* count: of numbers and weights */
};

static size_t size_of(jitgemm_type type)
{
    return type == JITGEMM_F32 ? 4 : 2;
}

static void store(jitgemm_type type, void *array, int64_t i, float x)
{
    float rounded = (float)ref_round(REF_BF16, (double)x);
    uint16_t half = ref_f16((double)x);
    uint32_t bits;

    memcpy(&bits, &rounded, sizeof bits);
    if (type == JITGEMM_BF16)
        half = (uint16_t)(bits >> 16);
    if (type == JITGEMM_F32)
        ((float *)array)[i] = x;
    else
        ((uint16_t *)array)[i] = half;
}

/* Row 3 is NaN, and no number is 3. */
static struct arrays make(const struct combine_case *c)
{
    size_t tokens = (size_t)c->max_rows, k = (size_t)c->k;
    struct arrays a = {.x_bytes = X_ROWS * k * size_of(c->x_type),
                       .c_bytes = tokens * k * size_of(c->c_type),
                       .count = tokens * (size_t)c->top_k};
    uint64_t seed = k + (size_t)c->top_k;

    a.x = malloc(a.x_bytes);
    a.want = malloc(a.c_bytes);
    a.gather = malloc(a.count * sizeof *a.gather);
    a.weights = malloc(a.count * sizeof *a.weights);
    for (int64_t i = 0; i < X_ROWS * c->k; i++)
        store(c->x_type, a.x, i,
              i / c->k == 3 ? NAN
                            : (float)(int32_t)ref_random(&seed) * 0x1p-28f);
    for (size_t i = 0; i < a.count; i++) {
        a.gather[i] = (int32_t)(ref_random(&seed) % (X_ROWS + 2)) - 1;
        if (a.gather[i] == 3)
            a.gather[i] = INT32_MIN;
        a.weights[i] = a.gather[i] < 0 || a.gather[i] >= X_ROWS
                           ? NAN
                           : (float)(int32_t)ref_random(&seed) * 0x1p-31f;
    }
    return a;
}

static void reference(const struct combine_case *c, struct arrays *a)
{
    memset(a->want, POISON, a->c_bytes);
    for (int64_t i = 0; c->tokens <= c->max_rows && i < c->tokens * c->k;
         i++) {
        float sum = 0;

        for (int j = 0; j < c->top_k; j++) {
            int64_t at = i / c->k * c->top_k + j, row = a->gather[at];

            if (row >= 0 && row < X_ROWS)
                sum = fmaf(c->weighted ? a->weights[at] : 1,
                           (float)ref_load((enum ref_type)c->x_type, a->x,
                                           row * c->k + i % c->k),
                           sum);
        }
        store(c->c_type, a->want, i, sum);
    }
}

static int64_t compare(const struct combine_case *c,
                       const jitgemm_conversion_arguments *arguments,
                       const struct arrays *a)
{
    bool bad = c->tokens > c->max_rows;
    jitgemm_fault want = {bad ? JITGEMM_FAULT_ROWS : 0, 0,
                          bad ? c->tokens : 0};
    jitgemm_fault fault;
    uint8_t *got = malloc(a->c_bytes);
    int64_t wrong;

    gpu_sync();
    gpu_download(got, arguments->values, a->c_bytes);
    gpu_download(&fault, arguments->fault, sizeof fault);
    wrong = memcmp(&fault, &want, sizeof fault) != 0;
    for (size_t i = 0; i < a->c_bytes; i++)
        if (got[i] != a->want[i] && wrong++ < 4)
            fprintf(stderr, "  byte %zu is 0x%02x, not 0x%02x\n", i, got[i],
                    a->want[i]);
    free(got);
    return wrong;
}

int64_t combine_case_test(jitgemm_context *context,
                          const struct combine_case *c)
{
    static const jitgemm_fault none;
    jitgemm_conversion_options options = {.size = sizeof options,
                                          .flags = JITGEMM_COMBINE,
                                          .x_type = c->x_type,
                                          .c_type = c->c_type};
    struct arrays a = make(c);
    jitgemm_conversion_arguments arguments = {
        .size = sizeof arguments,
        .groups = 1,
        .top_k = c->top_k,
        .k = c->k,
        .max_rows = c->max_rows,
        .x = gpu_upload(a.x, a.x_bytes),
        .rows = gpu_upload(&c->tokens, sizeof c->tokens),
        .scale = c->weighted ? gpu_upload(a.weights, 4 * a.count) : NULL,
        .values = gpu_alloc(a.c_bytes),
        .fault = gpu_upload(&none, sizeof none),
        .gather = gpu_upload(a.gather, 4 * a.count),
        .x_rows = X_ROWS};
    const void *all[] = {arguments.x,      arguments.rows,  arguments.scale,
                         arguments.values, arguments.fault, arguments.gather};
    jitgemm_conversion *conversion;
    int64_t wrong;

    GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)arguments.values, POISON,
                   a.c_bytes));
    GPU(cuCtxSynchronize());
    JITGEMM(jitgemm_conversion_create(context, &options, &conversion));
    JITGEMM(jitgemm_conversion_run(conversion, &arguments, gpu.stream));
    reference(c, &a);
    wrong = compare(c, &arguments, &a);
    jitgemm_conversion_destroy(conversion);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free((void *)(uintptr_t)all[i]);
    free(a.x);
    free(a.want);
    free(a.gather);
    free(a.weights);
    return wrong;
}
