/* SPDX-License-Identifier: MIT */
/* What conversions must write. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conversion_case.h"
#include "reference_rows.h"

/* Of the codes from 0 on, the one nearest to x >= 0; the even one of two. */
static unsigned nearest(double x, double (*decode)(unsigned), unsigned count)
{
    unsigned best = 0;

    for (unsigned code = 1; code < count; code++) {
        double here = fabs(x - decode(code)), before = fabs(x - decode(best));

        if (here < before || (here == before && code % 2 == 0))
            best = code;
    }
    return best;
}

/* Infinity and what is so large that differences vanish in it are nearest to
 * the largest code, as this is. */
static double bounded(double x)
{
    return x < 1e6 ? x : 1e6;
}

uint8_t ref_quantize_block(const double x[16], float global, uint8_t values[8])
{
    float largest = 0, wanted, unit;
    unsigned scale;

    memset(values, 0, 8);
    for (int i = 0; i < 16; i++)
        if (fabs(x[i]) > (double)largest)
            largest = (float)fabs(x[i]);
    wanted = largest * (1.0f / 6.0f);
    wanted = global * wanted;
    if (!(wanted > 0))
        return 0;
    scale = nearest(bounded((double)wanted), ref_e4m3, 127);
    if (!scale)
        return 0;
    unit = fminf(global / (float)ref_e4m3(scale), FLT_MAX);
    for (int i = 0; i < 16; i++) {
        double magnitude = isnan(x[i]) ? 0 : fabs(x[i]);
        float y = magnitude > 0 ? (float)magnitude * unit : 0;
        unsigned code = nearest(bounded((double)y), ref_e2m1, 8);

        if (signbit(x[i]))
            code |= 8;
        values[i / 2] |= (uint8_t)(code << 4 * (i % 2));
    }
    return (uint8_t)scale;
}

/* 1 / (1 + 2^(-slope x)) */
static float sigmoid(float x, float slope)
{
    static const float factors[] = {1.0f,          0.693147004f,
                                    0.240222424f,  0.0555073358f,
                                    0.00967151485f, 0.00132647296f};
    int n = (int)nearbyint((double)x * -(double)slope);
    float rest = fmaf(x, -slope, (float)-n), power = 0;

    for (int i = 5; i >= 0; i--)
        power = fmaf(power, rest, factors[i]);
    return 1 / (1 + ldexpf(power, n));
}

float ref_swiglu(float gate, float up)
{
    float y = 0;

    if (isnan(gate) || isnan(up))
        return 0;
    if (gate >= -87)
        y = sigmoid(fminf(gate, 87), 1.44269502f);
    y = gate * y;
    y = y * up;
    return isnan(y) ? 0 : y;
}

float ref_swiglu_oai(float gate, float up)
{
    float y = 0;

    if (isnan(gate) || isnan(up))
        return 0;
    gate = fminf(gate, 7);
    up = fmaxf(fminf(up, 7), -7) + 1;
    if (gate >= -51)
        y = sigmoid(gate, 2.45546699f);
    y = gate * y;
    y = y * up;
    return isnan(y) ? 0 : y;
}

/* Element i of a row, after the activation. */
static double element(const struct conversion_case *c, const uint8_t *x,
                      int64_t i)
{
    enum ref_type type = (enum ref_type)c->options.x_type;
    jitgemm_activation activation = c->options.activation;
    bool halves = activation == JITGEMM_SWIGLU ||
                  activation == JITGEMM_SWIGLU_OAI;
    float gate, up;

    if (!activation)
        return ref_load(type, x, i);
    gate = (float)ref_load(type, x, halves ? i : 2 * i);
    up = (float)ref_load(type, x, halves ? c->k + i : 2 * i + 1);
    return (double)(activation >= JITGEMM_SWIGLU_OAI
                        ? ref_swiglu_oai(gate, up)
                        : ref_swiglu(gate, up));
}

/* Bits as they are. */
static bool copies(const struct conversion_case *c)
{
    return c->options.x_type == c->options.c_type && !c->options.activation;
}

static void cast_block(const struct conversion_case *c, const double *elements,
                       int64_t first, uint8_t *values)
{
    for (int i = 0; i < 16; i++) {
        uint16_t *to = (uint16_t *)(void *)values + first + i;

        ref_store((enum ref_type)c->options.c_type, to, 0, elements[i]);
        if (isnan(elements[i]))
            *to = 0x7fff;
    }
}

/* One row of scales, or the row's values and scales. */
static void convert_row(const struct conversion_case *c, int32_t g,
                        int64_t row, uint8_t *values, uint8_t *scales)
{
    int64_t from = c->gather ? c->gather[row] : row;
    bool none = c->gather && (from < 0 || from >= c->x_rows);
    const uint8_t *x = c->x + (none ? 0 : from) * conversion_case_stride(c) *
                                  (c->options.x_type == JITGEMM_E4M3 ? 1 : 2);
    float global = c->scale ? c->scale[g] : 1;

    for (int64_t block = 0; block < c->k / 16; block++) {
        double elements[16];

        if (c->options.x_type == JITGEMM_E4M3) {
            scales[block] = x[block];
            continue;
        }
        for (int i = 0; i < 16; i++)
            elements[i] = none ? 0 : element(c, x, block * 16 + i);
        if (c->options.flags & JITGEMM_CAST) {
            cast_block(c, elements, row * c->k + block * 16, values);
            for (int i = 0; copies(c) && !none && i < 16; i++)
                memcpy(values + 2 * (row * c->k + block * 16 + i),
                       x + 2 * (block * 16 + i), 2);
            continue;
        }
        scales[block] = ref_quantize_block(
            elements, global, values + row * c->k / 2 + block * 8);
    }
}

static void convert_group(const struct conversion_case *c, int32_t g,
                          const struct ref_group *group, uint8_t *values,
                          uint8_t *scales)
{
    uint8_t line[65536];
    int64_t blocks = c->k / 16;

    if (c->options.scale_order == JITGEMM_SCALES_LINEAR ||
        c->options.flags & JITGEMM_CAST) {
        for (int64_t i = 0; i < group->rows; i++)
            convert_row(c, g, group->first + i, values,
                        scales + (group->first + i) * blocks);
        return;
    }
    for (int64_t i = 0; i < (group->rows + 127) / 128 * 128; i++) {
        memset(line, 0, sizeof line);
        if (i < group->rows)
            convert_row(c, g, group->first + i, values, line);
        for (int64_t b = 0; b < (blocks + 3) / 4 * 4; b++)
            scales[ref_scale_offset(group->start + i, b, c->k)] = line[b];
    }
}

void ref_convert(const struct conversion_case *c, uint8_t *values,
                 uint8_t *scales, jitgemm_fault *fault)
{
    struct ref_rows from = {c->options.layout, c->options.place, c->groups,
                            c->max_rows,       c->scale_rows,    c->rows,
                            c->scale_row};
    struct ref_group *groups = ref_rows_read(&from, fault);

    for (int32_t g = 0; g < c->groups; g++)
        if (c->options.scale_order == JITGEMM_SCALES_LINEAR ||
            c->options.flags & JITGEMM_CAST || groups[g].room)
            convert_group(c, g, &groups[g], values, scales);
    free(groups);
}
