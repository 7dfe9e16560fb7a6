/* SPDX-License-Identifier: MIT */
/* Formats and error bounds of the reference; its product is in
 * reference_product.c. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t ref_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

double ref_e2m1(unsigned code)
{
    static const double table[16] = {0,   0.5,  1,  1.5,  2,  3,  4,  6,
                                     -0., -0.5, -1, -1.5, -2, -3, -4, -6};

    return table[code & 15];
}

double ref_e4m3(unsigned byte)
{
    int exponent = (int)(byte >> 3 & 15), mantissa = (int)(byte & 7);

    if (exponent == 15 && mantissa == 7)
        return NAN;
    if (!exponent)
        return mantissa / 512.0;
    return (8 + mantissa) * (double)(1 << exponent) / 1024;
}

double ref_e8m0(unsigned byte)
{
    return byte == 255 ? NAN : ldexp(1, (int)byte - 127);
}

uint16_t ref_f16(double x)
{
    uint64_t bits, mantissa, kept;
    unsigned sign;
    int exponent, drop;

    memcpy(&bits, &x, sizeof bits);
    sign = (unsigned)(bits >> 48 & 0x8000);
    if (isnan(x))
        return (uint16_t)(sign | 0x7E00);
    if (fabs(x) >= 65520) /* half way from 65504 to 65536 */
        return (uint16_t)(sign | 0x7C00);
    if (fabs(x) < 0x1p-26)
        return (uint16_t)sign;
    /* |x| = mantissa * 2^(exponent - 52); f16 keeps multiples of 2^-24 or
     * 11 bits, whichever is coarser. */
    exponent = (int)(bits >> 52 & 0x7FF) - 1023;
    mantissa = (bits & 0xFFFFFFFFFFFFF) | 1ull << 52;
    drop = exponent < -14 ? 28 - exponent : 42;
    kept = mantissa >> drop;
    mantissa &= (1ull << drop) - 1;
    if (mantissa > 1ull << (drop - 1) ||
        (mantissa == 1ull << (drop - 1) && kept & 1))
        kept++;
    if (exponent >= -14)
        kept += (uint64_t)(exponent + 14) << 10;
    return (uint16_t)(sign | kept);
}

double ref_f16_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double magnitude;

    if (exponent == 31)
        magnitude = mantissa ? NAN : INFINITY;
    else if (exponent)
        magnitude = (1024 + mantissa) * (double)(1 << exponent) * 0x1p-25;
    else
        magnitude = mantissa * 0x1p-24;
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* An f64 to bf16 through f32 would round twice: to the lower neighbour first,
 * whose lowest bit then stands for what was cut off. */
static double round_bf16(double x)
{
    float cut = (float)x, next;
    uint32_t bits;

    if (isnan(x) || isinf(cut))
        return (double)cut;
    if (fabs((double)cut) > fabs(x))
        cut = nextafterf(cut, 0);
    memcpy(&bits, &cut, sizeof bits);
    bits |= (double)cut < x || (double)cut > x;
    bits += 0x7fff + (bits >> 16 & 1);
    bits &= 0xffff0000;
    memcpy(&next, &bits, sizeof next);
    return (double)next;
}

double ref_round(enum ref_type type, double x)
{
    switch (type) {
    case REF_F16:
        return ref_f16_value(ref_f16(x));
    case REF_BF16:
        return round_bf16(x);
    default:
        return (double)(float)x;
    }
}

double ref_load(enum ref_type type, const void *array, int64_t index)
{
    const uint16_t *halves = array;
    uint32_t bits;
    float value;

    if (type == REF_F16)
        return ref_f16_value(halves[index]);
    if (type == REF_F32)
        return (double)((const float *)array)[index];
    bits = (uint32_t)halves[index] << 16;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

void ref_store(enum ref_type type, void *array, int64_t index, double x)
{
    float value = (float)ref_round(type, x);
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (type == REF_F32)
        ((float *)array)[index] = value;
    else
        ((uint16_t *)array)[index] =
            type == REF_F16 ? ref_f16(x) : (uint16_t)(bits >> 16);
}

/* 128 rows x 4 blocks make a tile of 512 bytes; tiles go along k first. In a
 * tile 16 bytes hold rows r, r + 32, r + 64, r + 96, four blocks each. */
size_t ref_scale_offset(int64_t row, int64_t block, int64_t k)
{
    int64_t tiles_along_k = (k + 63) / 64;
    int64_t tile = (row >> 7) * tiles_along_k + (block >> 2);
    int64_t in_tile = (row & 31) << 4 | (row >> 5 & 3) << 2 | (block & 3);

    return (size_t)(tile << 9 | in_tile);
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(bytes + 1, 1);

    if (!memory) {
        fprintf(stderr, "reference: out of memory\n");
        exit(99);
    }
    return memory;
}

void ref_operand_alloc(struct ref_operand *operand, int64_t rows, int64_t k)
{
    size_t tiles = (size_t)((rows + 127) / 128 * ((k + 63) / 64));

    *operand = (struct ref_operand){.rows = rows,
                                    .k = k,
                                    .value_bytes = (size_t)(rows * k / 2),
                                    .scale_bytes = tiles * 512};
    operand->values = allocate(operand->value_bytes);
    operand->scales = allocate(operand->scale_bytes);
    memset(operand->scales, 0x7F, operand->scale_bytes);
}

void ref_operand_alloc_mx(struct ref_operand *operand, int64_t rows,
                          int64_t k)
{
    size_t tiles = (size_t)((rows + 127) / 128 * ((k + 127) / 128));

    *operand = (struct ref_operand){.rows = rows,
                                    .k = k,
                                    .value_bytes = (size_t)(rows * k / 2),
                                    .scale_bytes = tiles * 512,
                                    .mx = true};
    operand->values = allocate(operand->value_bytes);
    operand->scales = allocate(operand->scale_bytes);
    memset(operand->scales, 0xFF, operand->scale_bytes);
}

void ref_operand_alloc_type(struct ref_operand *operand, int64_t rows,
                            int64_t k, enum ref_type type)
{
    *operand = (struct ref_operand){.rows = rows,
                                    .k = k,
                                    .value_bytes = (size_t)(rows * k * 2),
                                    .type = type};
    operand->values = allocate(operand->value_bytes);
}

static uint8_t random_scale(enum ref_fill fill, uint64_t bits)
{
    uint8_t byte = (uint8_t)(bits & 0xFF);

    switch (fill) {
    case REF_PUBLIC:
        return byte & 1 ? 0x40 : 0x38;
    case REF_UNIT:
        return 0x38;
    case REF_FULL:
        break;
    }
    /* NaN gives way to the code below it, 448. */
    return (byte & 0x7F) == 0x7F ? (uint8_t)(byte - 1) : byte;
}

/* What an e2m1 and its scale would be; or any bits, with the exponent made
 * to stay below 2^10, and of bf16 above 2^-22 but for one in 64. */
static uint16_t random_element(enum ref_type type, enum ref_fill fill,
                               uint64_t bits)
{
    uint16_t any = (uint16_t)bits;
    unsigned code = (unsigned)bits & (fill == REF_PUBLIC ? 11 : 15);
    double value = ref_e2m1(code) * ref_e4m3(random_scale(fill, bits >> 8));
    float upper = (float)value;
    uint32_t word;

    if (fill != REF_FULL && type == REF_F16)
        return ref_f16(value);
    if (fill != REF_FULL) {
        memcpy(&word, &upper, sizeof word);
        return (uint16_t)(word >> 16);
    }
    if (type == REF_F16)
        return (any & 0x7FFF) < 25 << 10 ? any : any ^ 0x6000;
    if (bits >> 16 & 63)
        return (uint16_t)((any & 0x807F) | (105 + (bits >> 32) % 32) << 7);
    return any & 0x80FF;
}

static void fill_elements(struct ref_operand *operand, enum ref_fill fill,
                          uint64_t seed)
{
    uint16_t *elements = (uint16_t *)operand->values;

    for (int64_t i = 0; i < operand->rows * operand->k; i++)
        elements[i] = random_element(operand->type, fill, ref_random(&seed));
}

static void fill_mx_scales(struct ref_operand *operand, enum ref_fill fill,
                           uint64_t seed)
{
    unsigned range = fill == REF_FULL ? 16 : fill == REF_PUBLIC ? 2 : 1;
    unsigned least = fill == REF_FULL ? 120 : 127;

    memset(operand->scales, 0xFF, operand->scale_bytes);
    for (int64_t row = 0; row < operand->rows; row++)
        for (int64_t block = 0; block < operand->k / 32; block++)
            operand->scales[ref_scale_offset(row, block, operand->k / 2)] =
                (uint8_t)(least + ref_random(&seed) % range);
}

void ref_operand_fill(struct ref_operand *operand, enum ref_fill fill,
                      uint64_t seed)
{
    int64_t k = operand->k;
    uint8_t mask = fill == REF_PUBLIC ? 0xBB : 0xFF;

    if (!operand->scales) {
        fill_elements(operand, fill, seed);
        return;
    }
    for (int64_t i = 0; i < operand->rows * k / 2; i++)
        operand->values[i] = (uint8_t)(ref_random(&seed) >> 56 & mask);
    if (operand->mx) {
        fill_mx_scales(operand, fill, seed);
        return;
    }
    memset(operand->scales, 0x7F, operand->scale_bytes);
    for (int64_t row = 0; row < operand->rows; row++)
        for (int64_t block = 0; block < k / 16; block++)
            operand->scales[ref_scale_offset(row, block, k)] =
                random_scale(fill, ref_random(&seed) >> 56);
}

void ref_operand_free(struct ref_operand *operand)
{
    free(operand->values);
    free(operand->scales);
    memset(operand, 0, sizeof *operand);
}

double ref_operand_scale(const struct ref_operand *operand, int64_t row,
                         int64_t k)
{
    const uint8_t *scales = operand->scales;

    if (operand->mx)
        return ref_e8m0(scales[ref_scale_offset(row, k / 32, operand->k / 2)]);
    return ref_e4m3(scales[ref_scale_offset(row, k / 16, operand->k)]);
}

double ref_operand_value(const struct ref_operand *operand, int64_t row,
                         int64_t k)
{
    int64_t index = row * operand->k + k;
    unsigned byte;

    if (!operand->scales)
        return ref_load(operand->type, operand->values, index);
    byte = operand->values[index / 2];
    return ref_e2m1(k % 2 ? byte >> 4 : byte) *
           ref_operand_scale(operand, row, k);
}

/* Products are exact in f32, so only additions err. NVIDIA does not document
 * how a tensor core adds. The model assumed here (see arXiv:2512.07004 and
 * doi:10.7717/peerj-cs.330 for measurements): a step adds 16 products to the
 * accumulator, each cut 25 bits below the leading bit of the largest and the
 * sum to 24 bits, a loss below (17 * 2^-25 + 2^-23) < 3 * 2^-22 of the
 * largest. The largest is at most the sum of magnitudes so far, which grows
 * from 0 to abs_sum, and losses of both signs cancel in part: a third of that
 * is allowed, abs_sum / 2^22 a step, and 16 steps more for alpha and for
 * joining partial sums. This is not a bound that no input can pass, on
 * purpose: three times as wide it would hide a lost product of average size,
 * abs_sum / k, from k = 4600 up instead of 8000. */
double ref_sum_bound(double abs_sum, int64_t k)
{
    return ((double)k / 16 + 16) * 0x1p-22 * abs_sum;
}

double ref_bound(double exact, double abs_sum, int64_t k)
{
    double sum = ref_sum_bound(abs_sum, k);
    double half_ulp = 0x1p-11 * (fabs(exact) + sum);

    return sum + (half_ulp > 0x1p-25 ? half_ulp : 0x1p-25);
}

/* Rounding is monotone: what lies between two sums rounds to between what
 * they round to. */
bool ref_agrees(enum ref_type type, double got, double exact, double abs_sum,
                int64_t k)
{
    double bound = ref_sum_bound(abs_sum, k);

    if (isnan(exact))
        return isnan(got);
    return got >= ref_round(type, exact - bound) &&
           got <= ref_round(type, exact + bound);
}
