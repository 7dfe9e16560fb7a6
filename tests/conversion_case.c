/* SPDX-License-Identifier: MIT */
/* Input and output of a conversion on the GPU. */
#include "conversion_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

#define POISON 0xa5

static bool is_scales(const struct conversion_case *c)
{
    return c->options.x_type == JITGEMM_E4M3;
}

int64_t conversion_case_width(const struct conversion_case *c)
{
    return is_scales(c) ? c->k / 16 : c->options.activation ? 2 * c->k : c->k;
}

int64_t conversion_case_stride(const struct conversion_case *c)
{
    return c->ldx ? c->ldx : conversion_case_width(c);
}

int64_t conversion_case_rows(const struct conversion_case *c)
{
    return c->options.layout == JITGEMM_ROWS_MASKED ? c->groups * c->max_rows
                                                    : c->max_rows;
}

static bool is_cast(const struct conversion_case *c)
{
    return c->options.flags & JITGEMM_CAST;
}

static int64_t x_rows(const struct conversion_case *c)
{
    return c->gather ? c->x_rows : conversion_case_rows(c);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(99);
    }
    return memory;
}

static uint16_t half_of(const struct conversion_case *c, double x)
{
    float rounded = (float)ref_round(REF_BF16, x);
    uint32_t bits;

    memcpy(&bits, &rounded, sizeof bits);
    return c->options.x_type == JITGEMM_F16 ? ref_f16(x)
                                            : (uint16_t)(bits >> 16);
}

static uint16_t element(const struct conversion_case *c,
                        enum conversion_fill fill, uint64_t *seed,
                        int block_exponent)
{
    uint64_t random = ref_random(seed);
    double unit = (double)(random >> 40) * 0x1p-23 - 1; /* -1 to 1 */

    switch (fill) {
    case FILL_SPECIAL:
        return (uint16_t)random;
    case FILL_TIES:
        return half_of(c, ldexp(floor(unit * 24) / 4, block_exponent));
    default:
        return half_of(c, ldexp(unit, block_exponent + 3));
    }
}

static void fill_x(struct conversion_case *c, enum conversion_fill fill,
                   uint64_t seed)
{
    int64_t stride = conversion_case_stride(c);
    int64_t blocks = conversion_case_width(c) / (is_scales(c) ? 1 : 16);

    memset(c->x, fill == FILL_NONE ? 0 : 0xff, c->x_bytes); /* NaN */
    if (fill == FILL_NONE)
        return;
    for (int64_t r = 0; r < x_rows(c); r++)
        for (int64_t b = 0; b < blocks; b++) {
            uint16_t *x = (uint16_t *)c->x + r * stride + 16 * b;
            int exponent = (int)(ref_random(&seed) % 20) - 12;

            if (is_scales(c))
                c->x[r * stride + b] = (uint8_t)ref_random(&seed);
            else
                for (int i = 0; i < 16; i++)
                    x[i] = element(c, fill, &seed, exponent);
        }
}

/* Arguments are of the device's memory, but written only here. */
static void put(const void *to, const void *from, size_t bytes)
{
    if (to)
        GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)to, from, bytes));
}

static size_t rows_bytes(const struct conversion_case *c)
{
    return 4 *
           (size_t)(c->groups + (c->options.layout == JITGEMM_ROWS_STACKED));
}

void conversion_case_upload(const struct conversion_case *c)
{
    const jitgemm_conversion_arguments *a = &c->arguments;
    const jitgemm_fault none = {0};

    GPU(cuCtxSynchronize());
    put(a->x, c->x, c->x_bytes);
    put(a->rows, c->rows, rows_bytes(c));
    put(a->scale, c->scale, 4 * (size_t)c->groups);
    put(a->scale_row, c->scale_row, 4 * (size_t)c->groups);
    put(a->gather, c->gather, 4 * (size_t)conversion_case_rows(c));
    put(a->fault, &none, sizeof none);
    if (a->values)
        GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)a->values, POISON,
                       c->values_bytes));
    if (a->scales)
        GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)a->scales, POISON,
                       c->scales_bytes));
    GPU(cuCtxSynchronize());
}

static size_t scales_bytes(const struct conversion_case *c)
{
    bool masked = c->options.layout == JITGEMM_ROWS_MASKED;
    int64_t rows = c->scale_rows;

    if (is_cast(c))
        return 0;
    if (c->options.scale_order == JITGEMM_SCALES_LINEAR)
        return (size_t)(conversion_case_rows(c) * c->k / 16);
    if (c->options.place != JITGEMM_PLACE_EXPLICIT)
        rows = jitgemm_scale_rows(c->options.place,
                                  masked && c->options.place ==
                                                JITGEMM_PLACE_STRIDED
                                      ? c->max_rows
                                      : conversion_case_rows(c),
                                  c->groups);
    return jitgemm_scale_bytes(rows, c->k);
}

void conversion_case_make(struct conversion_case *c, enum conversion_fill fill,
                          uint64_t seed)
{
    int64_t rows = conversion_case_rows(c);
    int64_t row = conversion_case_width(c) * (is_scales(c) ? 1 : 2);
    int64_t stride = conversion_case_stride(c) * (is_scales(c) ? 1 : 2);

    /* To the last byte, so that whoever reads further is seen. */
    c->x_bytes = x_rows(c) ? (size_t)((x_rows(c) - 1) * stride + row) : 0;
    c->values_bytes = is_scales(c) ? 0
                      : is_cast(c) ? (size_t)(rows * c->k * 2)
                                   : (size_t)(rows * c->k / 2);
    c->scales_bytes = scales_bytes(c);
    c->x = allocate(c->x_bytes);
    fill_x(c, fill, seed);
    c->arguments = (jitgemm_conversion_arguments){
        .size = sizeof c->arguments,
        .groups = c->groups,
        .k = c->k,
        .max_rows = c->max_rows,
        .x = gpu_alloc(c->x_bytes),
        .ldx = c->ldx,
        .rows = c->rows ? gpu_alloc(rows_bytes(c)) : NULL,
        .scale = c->scale ? gpu_alloc(4 * (size_t)c->groups) : NULL,
        .scale_row = c->scale_row ? gpu_alloc(4 * (size_t)c->groups) : NULL,
        .scale_rows = c->scale_rows,
        .values = is_scales(c) ? NULL : gpu_alloc(c->values_bytes),
        .scales = is_cast(c) ? NULL : gpu_alloc(c->scales_bytes),
        .fault = gpu_alloc(sizeof(jitgemm_fault)),
        .gather = c->gather ? gpu_alloc(4 * (size_t)rows) : NULL,
        .x_rows = c->x_rows,
    };
    conversion_case_upload(c);
}

void conversion_case_free(struct conversion_case *c)
{
    const jitgemm_conversion_arguments *a = &c->arguments;
    const void *all[] = {a->x,      a->rows,   a->scale, a->scale_row,
                         a->values, a->scales, a->fault, a->gather};

    gpu_sync();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free((void *)(uintptr_t)all[i]);
    free(c->x);
}

static int64_t check_array(const char *name, const char *what,
                           const void *device, const void *wanted,
                           size_t bytes)
{
    const uint8_t *want = wanted;
    uint8_t *got = allocate(bytes);
    int64_t wrong = 0;

    gpu_download(got, device, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (got[i] != want[i] && wrong++ < 4)
            fprintf(stderr, "  %s: byte %zu of %s is 0x%02x, not 0x%02x\n",
                    name, i, what, got[i], want[i]);
    free(got);
    return wrong;
}

int64_t conversion_case_check(const struct conversion_case *c,
                              const char *name)
{
    uint8_t *values = allocate(c->values_bytes);
    uint8_t *scales = allocate(c->scales_bytes);
    jitgemm_fault fault;
    int64_t wrong;

    memset(values, POISON, c->values_bytes);
    memset(scales, POISON, c->scales_bytes);
    ref_convert(c, values, scales, &fault);
    gpu_sync();
    wrong =
        check_array(name, "values", c->arguments.values, values,
                    c->values_bytes) +
        check_array(name, "scales", c->arguments.scales, scales,
                    c->scales_bytes) +
        check_array(name, "fault", c->arguments.fault, &fault, sizeof fault);
    free(values);
    free(scales);
    return wrong;
}

int64_t conversion_case_test(jitgemm_context *context,
                             struct conversion_case *c,
                             enum conversion_fill fill, const char *name)
{
    static uint64_t seed = 2026;
    jitgemm_conversion *conversion;
    int64_t wrong;

    conversion = conversion_of(context, c);
    conversion_case_make(c, fill, ++seed);
    JITGEMM(jitgemm_conversion_run(conversion, &c->arguments, gpu.stream));
    wrong = conversion_case_check(c, name);
    conversion_case_free(c);
    jitgemm_conversion_destroy(conversion);
    return wrong;
}

jitgemm_conversion_options conversion_options(jitgemm_type x_type,
                                              jitgemm_layout layout,
                                              jitgemm_place place)
{
    return (jitgemm_conversion_options){.size =
                                            sizeof(jitgemm_conversion_options),
                                        .x_type = x_type,
                                        .layout = layout,
                                        .place = place};
}

static jitgemm_conversion *create(jitgemm_context *context,
                                  const jitgemm_conversion_options *options)
{
    jitgemm_conversion *conversion;

    JITGEMM(jitgemm_conversion_create(context, options, &conversion));
    return conversion;
}

jitgemm_conversion *conversion_make(jitgemm_context *context,
                                    jitgemm_type x_type,
                                    jitgemm_layout layout,
                                    jitgemm_place place)
{
    jitgemm_conversion_options options =
        conversion_options(x_type, layout, place);

    return create(context, &options);
}

jitgemm_conversion *conversion_of(jitgemm_context *context,
                                  const struct conversion_case *c)
{
    return create(context, &c->options);
}
