/* SPDX-License-Identifier: MIT */
/* Each is run often, on inputs in turn that together do not fit the L2, unless
 * they are small. */
#include "quantize_bench.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conversion_case.h"
#include "gpu.h"
#include "graph_time.h"

enum { BUFFERS = 5 };

struct timed { /* bytes of one run, read and written */
    struct conversion_case cases[BUFFERS];
    jitgemm_conversion *conversion; /* NULL: a copy of the input */
    double bytes;
};

static void run(const void *user, int i)
{
    const struct timed *t = user;
    const struct conversion_case *c = &t->cases[i % BUFFERS];

    if (t->conversion)
        JITGEMM(
            jitgemm_conversion_run(t->conversion, &c->arguments, gpu.stream));
    else
        GPU(cuMemcpyDtoDAsync((CUdeviceptr)(uintptr_t)c->arguments.scales,
                              (CUdeviceptr)(uintptr_t)c->arguments.x,
                              c->x_bytes, gpu.stream));
}

static void measure(const char *name, const struct timed *t)
{
    double us = graph_time(run, t);

    printf("%-44s %8.2f us, %6.0f GB/s\n", name, us, t->bytes / us * 1e-3);
    fflush(stdout);
}

/* Normally distributed, as what is quantized in earnest about is: of random
 * bits most blocks would have scales that no model has. */
static void fill(const struct conversion_case *c)
{
    static uint16_t normal[1 << 16];
    uint64_t seed = 9;

    for (int i = 0; i < 1 << 16; i++) {
        double size = sqrt(-2 * log((i + 0.5) / (1 << 16)));
        double x = size * cos((double)ref_random(&seed) * 0x1p-64 * 6.2832);
        float rounded = (float)ref_round(REF_BF16, x);
        uint32_t bits;

        memcpy(&bits, &rounded, sizeof bits);
        normal[i] = c->options.x_type == JITGEMM_BF16 ? (uint16_t)(bits >> 16)
                                                      : ref_f16(x);
    }
    for (size_t i = 0; i + 8 <= c->x_bytes; i += 8) {
        uint64_t random = ref_random(&seed);

        for (size_t j = 0; j < 8; j += 2)
            memcpy(c->x + i + j, &normal[random >> 8 * j & 0xffff], 2);
    }
}

static double bytes_of(const struct conversion_case *c, int64_t rows,
                       int64_t padded)
{
    bool cast = c->options.flags & JITGEMM_CAST;
    double x = c->options.x_type == JITGEMM_E4M3 ? 1.0 / 16
               : c->options.activation           ? 4.5
                                                 : 2.5;

    return (double)rows * (double)c->k * (cast ? x + 1.5 : x) +
           (cast ? 0 : (double)jitgemm_scale_bytes(padded, c->k));
}

static void make(jitgemm_context *context, struct timed *t,
                 const struct conversion_case *like, bool copy)
{
    if (!copy)
        JITGEMM(jitgemm_conversion_create(context, &like->options,
                                          &t->conversion));
    for (int i = 0; i < BUFFERS; i++) {
        t->cases[i] = *like;
        conversion_case_make(&t->cases[i], FILL_NONE, 0);
        if (i == 0)
            fill(&t->cases[0]);
        else
            memcpy(t->cases[i].x, t->cases[0].x, t->cases[0].x_bytes);
        conversion_case_upload(&t->cases[i]);
    }
}

static void drop(struct timed *t)
{
    for (int i = 0; i < BUFFERS; i++)
        conversion_case_free(&t->cases[i]);
    jitgemm_conversion_destroy(t->conversion);
}

/* `rows` of so many groups, evenly, in room for max_rows. */
static void quantize(jitgemm_context *context, jitgemm_type type,
                     jitgemm_place place, int32_t groups, int32_t rows,
                     int64_t max_rows, int64_t k)
{
    int32_t *offsets = calloc((size_t)groups + 1, sizeof *offsets);
    int64_t padded = 0;
    struct timed t = {.conversion = NULL};
    struct conversion_case c = {
        .options = {.size = sizeof c.options, .x_type = type, .place = place},
        .groups = groups,
        .k = k,
        .max_rows = max_rows,
        .rows = offsets};
    char name[64];

    for (int32_t g = 0; g < groups; g++) {
        offsets[g + 1] = (int32_t)((int64_t)rows * (g + 1) / groups);
        padded += (offsets[g + 1] - offsets[g] + 127) / 128 * 128;
    }
    make(context, &t, &c, false);
    t.bytes = bytes_of(&c, rows, padded);
    snprintf(name, sizeof name, "quantize %s %s, %d of %lld x %lld, %d groups",
             type == JITGEMM_F16 ? "f16" : "bf16", place ? "floor" : "tight",
             (int)rows, (long long)max_rows, (long long)k, (int)groups);
    measure(name, &t);
    drop(&t);
    free(offsets);
}

/* What a layer of experts does: `tokens` to rows of 8 experts each, or what
 * the experts made of them. Flags: 0 or JITGEMM_CAST. */
static void layer(jitgemm_context *context, uint32_t flags,
                  jitgemm_activation activation, int32_t groups,
                  int32_t tokens, int64_t k)
{
    int32_t rows = 8 * tokens, *offsets, *gather;
    int64_t padded = 0;
    struct timed t = {.conversion = NULL};
    static const char *const names[] = {"gather", "swiglu", "interleaved",
                                        "oai", "oai interleaved"};
    struct conversion_case c = {.options = {.size = sizeof c.options,
                                            .flags = flags,
                                            .x_type = JITGEMM_BF16,
                                            .activation = activation},
                                .groups = groups,
                                .k = k,
                                .max_rows = rows};
    char name[64];

    offsets = calloc((size_t)groups + 1, sizeof *offsets);
    gather = calloc((size_t)rows, sizeof *gather);
    for (int32_t g = 0; g < groups; g++) {
        offsets[g + 1] = (int32_t)((int64_t)rows * (g + 1) / groups);
        padded += (offsets[g + 1] - offsets[g] + 127) / 128 * 128;
    }
    for (int32_t i = 0; i < rows; i++)
        gather[i] = (int32_t)(i * INT64_C(7919) % tokens);
    c.rows = offsets;
    if (!activation) {
        c.options.flags |= JITGEMM_GATHER;
        c.gather = gather;
        c.x_rows = tokens;
    }
    if (flags)
        c.options.c_type = JITGEMM_BF16;
    make(context, &t, &c, false);
    t.bytes = bytes_of(&c, rows, padded);
    snprintf(name, sizeof name, "%s%s, %d rows x %lld, %d groups",
             flags ? "cast " : "", names[activation], (int)rows, (long long)k,
             (int)groups);
    measure(name, &t);
    drop(&t);
    free(offsets);
    free(gather);
}

static void weights(jitgemm_context *context, int32_t groups, int64_t rows,
                    int64_t k)
{
    struct timed t = {.conversion = NULL};
    struct conversion_case c = {.options = {.size = sizeof c.options,
                                            .x_type = JITGEMM_E4M3,
                                            .layout = JITGEMM_ROWS_MASKED,
                                            .place = JITGEMM_PLACE_STRIDED},
                                .groups = groups,
                                .k = k,
                                .max_rows = rows};
    char name[64];

    make(context, &t, &c, false);
    t.bytes = bytes_of(&c, rows * groups, (rows + 127) / 128 * 128 * groups);
    snprintf(name, sizeof name, "scales, %d x %lld x %lld", (int)groups,
             (long long)rows, (long long)k);
    measure(name, &t);
    drop(&t);
}

/* Scales of as many bytes as a conversion of f16 reads and writes in half. */
static void copy(jitgemm_context *context, int64_t bytes)
{
    struct timed t = {.conversion = NULL, .bytes = 2 * (double)bytes};
    struct conversion_case c = {.options = {.size = sizeof c.options,
                                            .x_type = JITGEMM_E4M3,
                                            .layout = JITGEMM_ROWS_MASKED},
                                .groups = 1,
                                .k = 16384,
                                .max_rows = bytes / 1024};
    char name[64];

    make(context, &t, &c, true);
    t.bytes = 2 * (double)t.cases[0].x_bytes;
    snprintf(name, sizeof name, "copy of %.0f MB",
             (double)t.cases[0].x_bytes * 1e-6);
    measure(name, &t);
    drop(&t);
}

void quantize_bench(jitgemm_context *context)
{
    copy(context, INT64_C(16384) * 7168 * 5 / 4);
    copy(context, INT64_C(256) * 4096 * 448);
    quantize(context, JITGEMM_BF16, JITGEMM_PLACE_TIGHT, 1, 16384, 16384,
             7168);
    quantize(context, JITGEMM_F16, JITGEMM_PLACE_FLOOR, 1, 16384, 16384, 7168);
    quantize(context, JITGEMM_BF16, JITGEMM_PLACE_TIGHT, 256, 16384, 16384,
             7168);
    quantize(context, JITGEMM_BF16, JITGEMM_PLACE_FLOOR, 256, 16384, 16384,
             7168);
    quantize(context, JITGEMM_BF16, JITGEMM_PLACE_TIGHT, 256, 65536, 65536,
             2048);
    quantize(context, JITGEMM_BF16, JITGEMM_PLACE_TIGHT, 128, 4096, 4096,
             2880);
    quantize(context, JITGEMM_BF16, JITGEMM_PLACE_TIGHT, 256, 64, 64, 7168);
    quantize(context, JITGEMM_BF16, JITGEMM_PLACE_TIGHT, 256, 64, 16384, 7168);
    for (int32_t tokens = 8; tokens <= 4096; tokens *= 8) {
        layer(context, 0, JITGEMM_NO_ACTIVATION, 256, tokens, 7168);
        layer(context, 0, JITGEMM_SWIGLU, 256, tokens, 2048);
        layer(context, 0, JITGEMM_SWIGLU_INTERLEAVED, 256, tokens, 2048);
        layer(context, 0, JITGEMM_SWIGLU_OAI_INTERLEAVED, 256, tokens, 2048);
        layer(context, JITGEMM_CAST, JITGEMM_NO_ACTIVATION, 256, tokens, 7168);
        layer(context, JITGEMM_CAST, JITGEMM_SWIGLU, 256, tokens, 2048);
        layer(context, JITGEMM_CAST, JITGEMM_SWIGLU_OAI_INTERLEAVED, 128,
              tokens, 2880);
    }
    weights(context, 256, 4096, 7168);
    weights(context, 128, 5760, 2880);
}
