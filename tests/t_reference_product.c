/* SPDX-License-Identifier: MIT */
/* The reference's operands and its fast product, which must be equal to a
 * triple loop over single elements. */
#include "reference.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static int fill_uses_scale(enum ref_fill fill, int byte)
{
    if (fill == REF_FULL)
        return (byte & 0x7F) != 0x7F;
    return byte == 0x38 || (fill == REF_PUBLIC && byte == 0x40);
}

/* Every code that the fill may use appears, no other does, and all padding
 * is poison. */
static void check_fill(enum ref_fill fill, const struct ref_operand *x)
{
    size_t logical = (size_t)(x->rows * x->k / 16), poison = 0;
    int seen_scales[256] = {0}, seen_values[256] = {0};

    for (size_t i = 0; i < x->scale_bytes; i++)
        poison += x->scales[i] == 0x7F;
    CHECK_INT(poison, x->scale_bytes - logical);
    for (int64_t row = 0; row < x->rows; row++)
        for (int64_t block = 0; block < x->k / 16; block++)
            seen_scales[x->scales[ref_scale_offset(row, block, x->k)]]++;
    for (int64_t i = 0; i < x->rows * x->k / 2; i++)
        seen_values[x->values[i]]++;
    for (int byte = 0; byte < 256; byte++) {
        CHECK_INT(!!seen_scales[byte], fill_uses_scale(fill, byte));
        CHECK_INT(!!seen_values[byte], fill != REF_PUBLIC || !(byte & 0x44));
    }
}

static void test_fills(void)
{
    for (int fill = REF_PUBLIC; fill <= REF_UNIT; fill++) {
        struct ref_operand x, y;

        ref_operand_alloc(&x, 130, 336);
        ref_operand_alloc(&y, 130, 336);
        CHECK_INT(x.scale_bytes, 2 * 6 * 512);
        ref_operand_fill(&x, (enum ref_fill)fill, 7);
        check_fill((enum ref_fill)fill, &x);
        ref_operand_fill(&y, (enum ref_fill)fill, 7);
        CHECK(!memcmp(x.values, y.values, 130 * 168));
        CHECK(!memcmp(x.scales, y.scales, x.scale_bytes));
        ref_operand_fill(&y, (enum ref_fill)fill, 8);
        CHECK(memcmp(x.values, y.values, 130 * 168));
        ref_operand_free(&x);
        ref_operand_free(&y);
        ref_operand_free(&y);
    }
}

/* One row of 32: the low four bits are the even k. */
static void test_value(void)
{
    struct ref_operand x;

    ref_operand_alloc(&x, 1, 32);
    x.values[0] = 0xF1;
    x.values[8] = 0x27;
    x.scales[0] = 0x40;
    x.scales[1] = 0xB8;
    CHECK(ref_operand_value(&x, 0, 0) == 1);
    CHECK(ref_operand_value(&x, 0, 1) == -12);
    CHECK(ref_operand_value(&x, 0, 16) == 6);
    CHECK(ref_operand_value(&x, 0, 17) == 1);
    ref_operand_free(&x);
}

/* Elements without scales: their bits are read as they are, a fill makes
 * small, large and subnormal ones and no infinity. */
static void test_elements(enum ref_type type)
{
    struct ref_operand x;
    uint16_t *bits;
    int large = 0, subnormal = 0, wrong = 0;

    ref_operand_alloc_type(&x, 65, 336, type);
    CHECK_INT(x.value_bytes, 65 * 336 * 2);
    CHECK(!x.scales);
    ref_operand_fill(&x, REF_FULL, 7);
    bits = (uint16_t *)x.values;
    for (int i = 0; i < 65 * 336; i++) {
        double value = fabs(ref_operand_value(&x, i / 336, i % 336));

        wrong += !(value < 1024);
        large += value >= 512;
        subnormal += value > 0 && !(bits[i] & (type ? 0x7F80 : 0x7C00));
    }
    CHECK_INT(wrong, 0);
    CHECK(large > 100 && subnormal > 50);
    ref_operand_fill(&x, REF_PUBLIC, 7);
    for (int i = 0; i < 65 * 336; i++) {
        double value = fabs(ref_operand_value(&x, i / 336, i % 336));

        wrong += value > 3 || value != floor(2 * value) / 2;
    }
    CHECK_INT(wrong, 0);
    bits[336 + 2] = type ? 0xC080 : 0xC400;
    CHECK(ref_operand_value(&x, 1, 2) == -4);
    ref_operand_free(&x);
}

static void naive(const struct ref_operand *a, const struct ref_operand *b,
                  int64_t i, int64_t j, double sums[2])
{
    sums[0] = sums[1] = 0;
    for (int64_t k = 0; k < a->k; k++) {
        double product =
            ref_operand_value(a, i, k) * ref_operand_value(b, j, k);

        sums[0] += product;
        sums[1] += fabs(product);
    }
}

/* The fills have products so coarse that float64 sums are exact in any
 * order. `type` is that of A, or REF_F32: NVFP4. */
static void check_product_of(enum ref_type type, enum ref_fill fill, int64_t m,
                             int64_t n, int64_t k, double alpha, int threads)
{
    struct ref_operand a, b;
    double *c = malloc((size_t)(m * n) * 2 * sizeof *c);
    double *abs_sum = c + m * n;
    int wrong = 0;

    if (type == REF_F32)
        ref_operand_alloc(&a, m, k);
    else
        ref_operand_alloc_type(&a, m, k, type);
    ref_operand_alloc(&b, n, k);
    ref_operand_fill(&a, fill, 1);
    ref_operand_fill(&b, fill, 2);
    ref_product(&a, &b, alpha, c, abs_sum, threads);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sums[2];

            naive(&a, &b, i, j, sums);
            wrong += c[i * n + j] != alpha * sums[0];
            wrong += abs_sum[i * n + j] != fabs(alpha) * sums[1];
        }
    CHECK_INT(wrong, 0);
    ref_operand_free(&a);
    ref_operand_free(&b);
    free(c);
}

static void check_product(enum ref_fill fill, int64_t m, int64_t n, int64_t k,
                          double alpha, int threads)
{
    check_product_of(REF_F32, fill, m, n, k, alpha, threads);
}

/* A NaN scale shows in its row or column only; poison in the padding not. */
static void test_nan(void)
{
    struct ref_operand a, b;
    double c[5 * 3];

    ref_operand_alloc(&a, 5, 48);
    ref_operand_alloc(&b, 3, 48);
    ref_operand_fill(&a, REF_PUBLIC, 3);
    ref_operand_fill(&b, REF_PUBLIC, 4);
    a.scales[ref_scale_offset(4, 2, 48)] = 0x7F;
    b.scales[ref_scale_offset(1, 0, 48)] = 0xFF;
    ref_product(&a, &b, 1, c, NULL, 1);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++)
            CHECK_INT(isnan(c[i * 3 + j]) != 0, i == 4 || j == 1);
    ref_operand_free(&a);
    ref_operand_free(&b);
}

int main(void)
{
    test_fills();
    test_value();
    test_elements(REF_F16);
    test_elements(REF_BF16);
    test_nan();
    check_product(REF_PUBLIC, 1, 1, 16, 1, 1);
    check_product(REF_FULL, 3, 5, 48, -0.5, 1);
    check_product(REF_FULL, 4, 64, 256, 1, 2);
    check_product(REF_UNIT, 130, 65, 272, 2, 2);
    check_product(REF_FULL, 9, 131, 1040, 0.25, 3);
    check_product(REF_PUBLIC, 33, 200, 512, 1, 16);
    check_product_of(REF_F16, REF_UNIT, 6, 70, 272, -0.5, 2);
    check_product_of(REF_BF16, REF_UNIT, 6, 70, 272, 2, 1);
    check_product_of(REF_F16, REF_PUBLIC, 9, 131, 1040, 0.25, 3);
    return test_end();
}
