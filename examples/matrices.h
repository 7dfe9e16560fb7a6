/* SPDX-License-Identifier: MIT */
/* What the examples multiply: random matrices in NVFP4, made with the host
 * helpers of the library; and the product to compare with, from the formats'
 * definitions, with sums in double. What not every example needs is inline. */
#ifndef MATRICES_H
#define MATRICES_H

#include <jitgemm.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_driver.h"

/* Ends the program on an error: `must(jitgemm_run(plan, stream));`. */
static void must(jitgemm_status status)
{
    if (status != JITGEMM_OK) {
        fprintf(stderr, "%s: %s\n", jitgemm_status_string(status),
                jitgemm_last_error()->text);
        exit(EXIT_FAILURE);
    }
}

static void *allocate(size_t size)
{
    void *memory = calloc(size ? size : 1, 1);

    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* Values in [-1, 1) from a linear congruential generator. */
static float *random_matrix(size_t count, uint32_t seed)
{
    float *x = allocate(count * sizeof *x);

    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
    return x;
}

/* A matrix in NVFP4, on the host to check with, and on the device. */
struct matrix {
    uint8_t *values, *scales; /* scales row-major here, blocked there */
    float tensor_scale;
    void *device_values, *device_scales;
};

static struct matrix make_matrix(int64_t rows, int64_t k, uint32_t seed)
{
    size_t count = (size_t)(rows * k), bytes = jitgemm_scale_bytes(rows, k);
    struct matrix x = {allocate(count / 2), allocate(count / 16), 1, 0, 0};
    float *real = random_matrix(count, seed);
    uint8_t *blocked = allocate(bytes);

    x.tensor_scale = jitgemm_tensor_scale(real, count);
    must(jitgemm_quantize(real, rows, k, k, x.tensor_scale, x.values,
                          x.scales));
    must(jitgemm_scales_to_blocked(rows, k, x.scales, blocked));
    x.device_values = to_device(x.values, count / 2);
    x.device_scales = to_device(blocked, bytes);
    free(blocked);
    free(real);
    return x;
}

static void free_matrix(struct matrix *x)
{
    free_device(x->device_values);
    free_device(x->device_scales);
    free(x->values);
    free(x->scales);
}

/* A number of sign, exponent and mantissa. What f16 has for infinities and
 * NaN comes out as a large number, which no comparison forgives. */
static double decode(int code, int exponent_bits, int mantissa_bits)
{
    int mantissa = code & ((1 << mantissa_bits) - 1);
    int exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1);
    int sign = code >> (exponent_bits + mantissa_bits) & 1;
    int bias = (1 << (exponent_bits - 1)) - 1;
    double value = exponent ? ldexp(mantissa + (1 << mantissa_bits),
                                    exponent - bias - mantissa_bits)
                            : ldexp(mantissa, 1 - bias - mantissa_bits);

    return sign ? -value : value;
}

/* The rows * k values of a matrix, in units of its tensor scale. */
static double *dequantize(const struct matrix *x, int64_t rows, int64_t k)
{
    size_t count = (size_t)(rows * k);
    double *real = allocate(count * sizeof *real);

    for (size_t i = 0; i < count; i++) {
        int code = x->values[i / 2] >> (i % 2 ? 4 : 0) & 15;

        real[i] = decode(code, 2, 1) * decode(x->scales[i / 16], 4, 3);
    }
    return real;
}

/* Device memory for m x n values of f16, all NaN: unwritten is wrong. */
static inline void *new_result(int64_t m, int64_t n)
{
    size_t bytes = (size_t)(m * n) * sizeof(uint16_t);
    void *fill = memset(allocate(bytes), 0xFF, bytes);
    void *device = to_device(fill, bytes);

    free(fill);
    return device;
}

/* The factor of a product that its operands' tensor scales make. */
static inline void *new_alpha(const struct matrix *a, const struct matrix *b)
{
    float alpha = a->tensor_scale * b->tensor_scale;

    return to_device(&alpha, sizeof alpha);
}

/* Compares c = a * b^T, c in device memory. Returns the largest error in
 * units of what is allowed: one rounding to f16 (2^-11 of the value, 2^-25 if
 * it is tiny) and sums in f32 (taken as 2^-20 of the sum of magnitudes). */
static inline double worst_error(const struct matrix *a,
                                 const struct matrix *b, const void *c,
                                 int64_t m, int64_t n, int64_t k)
{
    double alpha = a->tensor_scale * b->tensor_scale, worst = 0;
    double *x = dequantize(a, m, k), *y = dequantize(b, n, k);
    size_t bytes = (size_t)(m * n) * sizeof(uint16_t);
    uint16_t *result = allocate(bytes);

    from_device(result, c, bytes);
    for (int64_t i = 0; i < m * n; i++) {
        const double *row = x + i / n * k, *column = y + i % n * k;
        double sum = 0, magnitude = 0, error, allowed;

        for (int64_t l = 0; l < k; l++) {
            sum += row[l] * column[l];
            magnitude += fabs(row[l] * column[l]);
        }
        error = fabs(decode(result[i], 5, 10) - alpha * sum);
        allowed = ldexp(fabs(alpha * sum), -11) +
                  ldexp(fabs(alpha) * magnitude, -20) + ldexp(1, -25);
        worst = fmax(worst, error / allowed);
    }
    free(result);
    free(x);
    free(y);
    return worst;
}

#endif
