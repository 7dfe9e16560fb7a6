/* SPDX-License-Identifier: MIT */
/* What conversions must write. */
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
    unit = global / (float)ref_e4m3(scale);
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

float ref_swiglu(float gate, float up)
{
    static const float log2_e = 1.44269502f;
    static const float factors[] = {1.0f,          0.693147004f,
                                    0.240222424f,  0.0555073358f,
                                    0.00967151485f, 0.00132647296f};
    float x = gate < 87 ? gate : 87, power = 0, y = 0;

    if (isnan(gate) || isnan(up))
        return 0;
    if (gate >= -87) {
        int n = (int)nearbyint((double)x * -(double)log2_e);
        float rest = fmaf(x, -log2_e, (float)-n);

        for (int i = 5; i >= 0; i--)
            power = fmaf(power, rest, factors[i]);
        y = 1 / (1 + ldexpf(power, n));
    }
    y = gate * y;
    y = y * up;
    return isnan(y) ? 0 : y;
}

/* Element i of a row, after the activation. */
static double element(const struct conversion_case *c, const uint8_t *x,
                      int64_t i)
{
    enum ref_type type = (enum ref_type)c->options.x_type;

    switch (c->options.activation) {
    case JITGEMM_SWIGLU:
        return (double)ref_swiglu((float)ref_load(type, x, i),
                                  (float)ref_load(type, x, c->k + i));
    case JITGEMM_SWIGLU_INTERLEAVED:
        return (double)ref_swiglu((float)ref_load(type, x, 2 * i),
                                  (float)ref_load(type, x, 2 * i + 1));
    default:
        return ref_load(type, x, i);
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

    if (c->options.scale_order == JITGEMM_SCALES_LINEAR) {
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
        if (c->options.scale_order == JITGEMM_SCALES_LINEAR || groups[g].room)
            convert_group(c, g, &groups[g], values, scales);
    free(groups);
}
