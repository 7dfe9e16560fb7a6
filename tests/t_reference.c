/* SPDX-License-Identifier: MIT */
/* The reference's formats against values worked out by hand. */
#include "reference.h"
#include "test.h"

#include <math.h>

static void test_decode(void)
{
    static const double e2m1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

    for (unsigned code = 0; code < 8; code++) {
        CHECK(ref_e2m1(code) == e2m1[code]);
        CHECK(ref_e2m1(code | 8) == -e2m1[code]);
    }
    CHECK(signbit(ref_e2m1(8)));
    CHECK(ref_e4m3(0x00) == 0);
    CHECK(ref_e4m3(0x01) == 0.001953125);
    CHECK(ref_e4m3(0x07) == 0.013671875);
    CHECK(ref_e4m3(0x08) == 0.015625);
    CHECK(ref_e4m3(0x38) == 1);
    CHECK(ref_e4m3(0x39) == 1.125);
    CHECK(ref_e4m3(0x40) == 2);
    CHECK(ref_e4m3(0x7E) == 448);
    CHECK(ref_e4m3(0xFE) == 448);
    CHECK(isnan(ref_e4m3(0x7F)));
    CHECK(isnan(ref_e4m3(0xFF)));
    for (unsigned byte = 0; byte < 0x7E; byte++)
        CHECK(ref_e4m3(byte) < ref_e4m3(byte + 1));
}

static void test_offset(void)
{
    CHECK_INT(ref_scale_offset(0, 0, 64), 0);
    CHECK_INT(ref_scale_offset(0, 3, 64), 3);
    CHECK_INT(ref_scale_offset(32, 0, 64), 4);
    CHECK_INT(ref_scale_offset(1, 0, 64), 16);
    CHECK_INT(ref_scale_offset(127, 3, 64), 511);
    CHECK_INT(ref_scale_offset(0, 4, 128), 512);
    CHECK_INT(ref_scale_offset(128, 0, 80), 1024);
    CHECK_INT(ref_scale_offset(200, 13, 1024), 9865);
}

static void test_f16(void)
{
    static const struct {
        double x;
        uint16_t bits;
    } wanted[] = {
        {0, 0},
        {1, 0x3C00},
        {-2, 0xC000},
        {1.0 / 3, 0x3555},
        /* ties to even, and next to them */
        {2049, 0x6800},
        {2051, 0x6802},
        {2049.0000001, 0x6801},
        {2050.9999999, 0x6801},
        {1 + 0x1p-11, 0x3C00},
        {1 + 0x3p-11, 0x3C02},
        {1 + 0x1p-11 + 0x1p-52, 0x3C01},
        {4095.9, 0x6C00}, /* carries into the exponent */
        /* the end of the range */
        {65504, 0x7BFF},
        {65519.999, 0x7BFF},
        {65520, 0x7C00},
        {-1e300, 0xFC00},
        {INFINITY, 0x7C00},
        /* subnormals */
        {0x1p-14, 0x0400},
        {0x1.ffbp-15, 0x03FF},
        {0x1.ffcp-15, 0x0400},
        {0x1p-24, 0x0001},
        {0x1p-25, 0},
        {0x1.8p-24, 0x0002},
        {0x1.000001p-25, 0x0001},
        {0x1.4p-23, 0x0002},
        {-0x1p-24, 0x8001},
        {0x1.fp-26, 0},
        {-1e-300, 0x8000},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CHECK_INT(ref_f16(wanted[i].x), wanted[i].bits);
    CHECK(isnan(ref_f16_value(ref_f16(NAN))));
    CHECK(ref_f16_value(0x7C00) == INFINITY);
    CHECK(ref_f16_value(0x3555) == 0.333251953125);
    CHECK(ref_f16_value(0x83FF) == -0x1.ff8p-15);
    CHECK(ref_f16_value(0x0400) == 0x1p-14);
    for (unsigned bits = 0; bits < 0x7C00; bits++)
        CHECK_INT(ref_f16(ref_f16_value((uint16_t)bits)), bits);
}

static void test_bound(void)
{
    double sum = 32 * 0x1p-22; /* of 1000, k = 256 */

    CHECK(ref_sum_bound(1000, 256) == 1000 * sum);
    CHECK(ref_bound(100, 1000, 256) ==
          1000 * sum + 0x1p-11 * (100 + 1000 * sum));
    CHECK(ref_bound(0, 0, 256) == 0x1p-25);

    /* 1 + 2^-10 is the next f16 after 1. */
    CHECK(ref_agrees(REF_F16, ref_f16_value(0x3C00), 1, 1, 32));
    CHECK(!ref_agrees(REF_F16, ref_f16_value(0x3C01), 1, 1, 32));
    CHECK(ref_agrees(REF_F16, ref_f16_value(0x3C01), 1 + 0x1p-11, 1, 32));
    CHECK(ref_agrees(REF_F16, ref_f16_value(0x3C00), 1 + 0x1p-11, 1, 32));
    CHECK(!ref_agrees(REF_F16, ref_f16_value(0x3C02), 1 + 0x1p-11, 1, 32));
    CHECK(ref_agrees(REF_F16, ref_f16_value(0x3C01), 1, 200, 32));
    CHECK(ref_agrees(REF_F16, ref_f16_value(0x7C00), 65520, 65520, 32));
    CHECK(ref_agrees(REF_F16, ref_f16_value(0x7BFF), 65520, 65520, 32));
    CHECK(!ref_agrees(REF_F16, ref_f16_value(0x7C00), 65000, 65000, 32));
    CHECK(!ref_agrees(REF_F16, ref_f16_value(0x7BFF), 70000, 70000, 32));
    CHECK(ref_agrees(REF_F16, ref_f16_value(0x7E00), NAN, NAN, 32));
    CHECK(!ref_agrees(REF_F16, ref_f16_value(0x7E00), 1, 1, 32));
    CHECK(!ref_agrees(REF_F16, ref_f16_value(0x3C00), NAN, NAN, 32));
    CHECK(ref_agrees(REF_F16, ref_f16_value(0x8000), 0, 0, 32)); /* -0 is 0 */
}

static void test_random(void)
{
    uint64_t state = 0;

    /* The first outputs of splitmix64 from 0, as published. */
    CHECK(ref_random(&state) == 0xE220A8397B1DCDAF);
    CHECK(ref_random(&state) == 0x6E789E6AA1B965F4);
}

/* Values between two neighbours of each type, at and beside the middle. */
static void test_round(void)
{
    uint16_t bf16[] = {0x3f80, 0xc049};
    float f32[] = {1.5f, -0x1p-140f};

    CHECK(ref_round(REF_BF16, 1 + 0x1p-8) == 1);
    CHECK(ref_round(REF_BF16, 1 + 0x1p-8 + 0x1p-40) == 1 + 0x1p-7);
    CHECK(ref_round(REF_BF16, 1 + 0x3p-8) == 1 + 0x1p-6);
    CHECK(ref_round(REF_BF16, -1 - 0x3p-8 + 0x1p-40) == -1 - 0x1p-7);
    CHECK(ref_round(REF_BF16, 0x1p-133 + 0x1p-160) == 0x1p-133);
    CHECK(ref_round(REF_BF16, 0x1.ffp127) == INFINITY);
    CHECK(isnan(ref_round(REF_BF16, NAN)));
    CHECK(ref_round(REF_F16, 65520) == INFINITY);
    CHECK(ref_round(REF_F32, 1 + 0x1p-24) == 1);
    CHECK(ref_load(REF_BF16, bf16, 0) == 1);
    CHECK(ref_load(REF_BF16, bf16, 1) == -3.140625);
    CHECK(ref_load(REF_F32, f32, 1) == -0x1p-140);
    ref_store(REF_BF16, bf16, 1, 257); /* a tie, to even */
    ref_store(REF_F32, f32, 1, 0.1);
    CHECK(ref_load(REF_BF16, bf16, 1) == 256);
    CHECK(ref_load(REF_F32, f32, 1) == (double)0.1f);
    CHECK(ref_load(REF_F16, bf16, 0) == 1.875);
    CHECK(ref_agrees(REF_BF16, 1 + 0x1p-7, 1 + 0x1p-8 + 0x1p-12, 1, 32));
    CHECK(!ref_agrees(REF_BF16, 1, 1 + 0x1p-8 + 0x1p-12, 1, 32));
    CHECK(ref_agrees(REF_F32, 1 + 0x1p-19, 1, 1, 32));
    CHECK(!ref_agrees(REF_F32, 1 + 0x1p-17, 1, 1, 32));
}

int main(void)
{
    test_decode();
    test_offset();
    test_f16();
    test_round();
    test_bound();
    test_random();
    return test_end();
}
