/* SPDX-License-Identifier: MIT */
/* Host helpers for NVFP4 operands: blocked scale layout and quantization.
 * Every comparison of a value with a rounding bound is exact: codes and f32
 * factors multiply without error in double. */
#include "status.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 16,      /* k values under one scale */
    TILE_ROWS = 128, /* the blocked layout is made of tiles of 128 rows... */
    TILE_K = 64,     /* ...and 4 blocks, a byte each */
    TILE_BYTES = 512
};

static const double e2m1_max = 6.0, e4m3_max = 448.0;

static uint64_t ceil_div(int64_t value, int64_t unit)
{
    return (uint64_t)(value / unit) + (value % unit != 0);
}

size_t jitgemm_scale_offset(int64_t row, int64_t block, int64_t k)
{
    uint64_t r = (uint64_t)row, b = (uint64_t)block, tile;

    if (row < 0 || block < 0 || k < 0)
        return 0;
    tile = r / TILE_ROWS * ceil_div(k, TILE_K) + b / 4;
    return (size_t)(tile * TILE_BYTES + r % 32 * 16 + r / 32 % 4 * 4 + b % 4);
}

size_t jitgemm_scale_bytes(int64_t rows, int64_t k)
{
    uint64_t down, across;

    if (rows <= 0 || k <= 0)
        return 0;
    down = ceil_div(rows, TILE_ROWS);
    across = ceil_div(k, TILE_K);
    if (down > SIZE_MAX / TILE_BYTES / across)
        return 0;
    return (size_t)(down * across * TILE_BYTES);
}

static jitgemm_status check_pointer(const char *argument, const void *pointer)
{
    if (pointer)
        return JITGEMM_OK;
    return jg_fail_argument(JITGEMM_E_ARGUMENT, argument, -1, 0, 0,
                            "%s is a null pointer", argument);
}

static jitgemm_status check_shape(int64_t rows, int64_t k)
{
    if (rows < 0)
        return jg_fail_argument(JITGEMM_E_SHAPE, "rows", -1, rows, 0,
                                "rows = %lld is negative", (long long)rows);
    if (k < 0 || k % BLOCK)
        return jg_fail_argument(JITGEMM_E_SHAPE, "k", -1, k, BLOCK,
                                "k = %lld is not a multiple of %d",
                                (long long)k, BLOCK);
    return JITGEMM_OK;
}

static jitgemm_status check_conversion(int64_t rows, int64_t k,
                                       const uint8_t *row_major,
                                       const uint8_t *blocked)
{
    jitgemm_status status;

    if ((status = check_pointer("row_major", row_major)) ||
        (status = check_pointer("blocked", blocked)) ||
        (status = check_shape(rows, k)))
        return status;
    if (rows && k && !jitgemm_scale_bytes(rows, k))
        return jg_fail_argument(JITGEMM_E_SHAPE, "rows", -1, rows, 0,
                                "rows = %lld of k = %lld have more scales "
                                "than memory can hold",
                                (long long)rows, (long long)k);
    return JITGEMM_OK;
}

jitgemm_status jitgemm_scales_to_blocked(int64_t rows, int64_t k,
                                         const uint8_t *row_major,
                                         uint8_t *blocked)
{
    jitgemm_status status = check_conversion(rows, k, row_major, blocked);

    if (status)
        return status;
    memset(blocked, 0, jitgemm_scale_bytes(rows, k));
    for (int64_t row = 0; row < rows; row++)
        for (int64_t block = 0; block < k / BLOCK; block++)
            blocked[jitgemm_scale_offset(row, block, k)] = *row_major++;
    return JITGEMM_OK;
}

jitgemm_status jitgemm_scales_from_blocked(int64_t rows, int64_t k,
                                           const uint8_t *blocked,
                                           uint8_t *row_major)
{
    jitgemm_status status = check_conversion(rows, k, row_major, blocked);

    if (status)
        return status;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t block = 0; block < k / BLOCK; block++)
            *row_major++ = blocked[jitgemm_scale_offset(row, block, k)];
    return JITGEMM_OK;
}

float jitgemm_tensor_scale(const float *x, size_t count)
{
    float amax = 0, scale;

    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && fabsf(x[i]) > amax)
            amax = fabsf(x[i]);
    if (amax == 0)
        return 1;
    scale = (float)(amax / (e2m1_max * e4m3_max));
    /* jitgemm_quantize() divides by it. */
    return scale > 0 ? scale : FLT_TRUE_MIN;
}

/* The e4m3 code nearest to x >= 0. Codes count up through the binades: each
 * binade is 8 codes of one ulp, the lowest together with the subnormals 16. */
static uint8_t encode_e4m3(double x)
{
    double ulp = 0x1p-9, rest;
    unsigned code = 0, steps;

    if (x >= e4m3_max)
        return 0x7E;
    for (; x >= 16 * ulp; ulp *= 2)
        code += 8;
    steps = (unsigned)(x / ulp);
    rest = x / ulp - steps;
    if (rest > 0.5 || (rest == 0.5 && steps % 2))
        steps++;
    return (uint8_t)(code + steps);
}

static double decode_e4m3(uint8_t code)
{
    unsigned exponent = code >> 3, mantissa = code & 7u;

    return 0x1p-9 * (exponent ? (8 + mantissa) << (exponent - 1) : mantissa);
}

/* The e2m1 code nearest to x / unit: the bounds that |x| is past, counted. A
 * tie goes up (>=) from odd codes only. */
static unsigned encode_e2m1(float x, double unit)
{
    double magnitude = fabs((double)x);
    int code;

    if (isnan(x))
        return 0;
    code = (magnitude > 0.25 * unit) + (magnitude >= 0.75 * unit) +
           (magnitude > 1.25 * unit) + (magnitude >= 1.75 * unit) +
           (magnitude > 2.5 * unit) + (magnitude >= 3.5 * unit) +
           (magnitude > 5 * unit);
    return (unsigned)code | (signbit(x) ? 8 : 0);
}

/* Writes BLOCK / 2 bytes of values and returns their scale. */
static uint8_t quantize_block(const float *x, double tensor_scale,
                              uint8_t *values)
{
    double amax = 0, unit;
    uint8_t scale;

    for (int i = 0; i < BLOCK; i++)
        if (fabs((double)x[i]) > amax) /* false for NaN */
            amax = fabs((double)x[i]);
    scale = encode_e4m3(amax / (e2m1_max * tensor_scale));
    if (!scale) {
        memset(values, 0, BLOCK / 2);
        return 0;
    }
    unit = decode_e4m3(scale) * tensor_scale;
    for (int i = 0; i < BLOCK; i += 2)
        values[i / 2] = (uint8_t)(encode_e2m1(x[i], unit) |
                                  encode_e2m1(x[i + 1], unit) << 4);
    return scale;
}

static jitgemm_status check_quantize(int64_t rows, int64_t k, int64_t ldx,
                                     float tensor_scale)
{
    const int64_t limit = PTRDIFF_MAX / (int64_t)sizeof(float);
    jitgemm_status status = check_shape(rows, k);

    if (status)
        return status;
    if (!k)
        return jg_fail_argument(JITGEMM_E_SHAPE, "k", -1, 0, BLOCK,
                                "k is 0, not a positive multiple of %d",
                                BLOCK);
    if (ldx < k)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "ldx", -1, ldx, k,
                                "ldx = %lld is less than k = %lld",
                                (long long)ldx, (long long)k);
    if (rows && (k > limit || (rows > 1 && ldx > (limit - k) / (rows - 1))))
        return jg_fail_argument(JITGEMM_E_SHAPE, "rows", -1, rows, 0,
                                "rows = %lld of ldx = %lld are more "
                                "elements than memory can hold",
                                (long long)rows, (long long)ldx);
    if (!isfinite(tensor_scale) || !(tensor_scale > 0))
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "tensor_scale", -1, 0, 0,
                                "tensor_scale = %g is not finite and > 0",
                                (double)tensor_scale);
    return JITGEMM_OK;
}

jitgemm_status jitgemm_quantize(const float *x, int64_t rows, int64_t k,
                                int64_t ldx, float tensor_scale,
                                uint8_t *values, uint8_t *scales)
{
    jitgemm_status status;

    if ((status = check_pointer("x", x)) ||
        (status = check_pointer("values", values)) ||
        (status = check_pointer("scales", scales)) ||
        (status = check_quantize(rows, k, ldx, tensor_scale)))
        return status;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < k; i += BLOCK) {
            *scales++ =
                quantize_block(x + row * ldx + i, tensor_scale, values);
            values += BLOCK / 2;
        }
    return JITGEMM_OK;
}
