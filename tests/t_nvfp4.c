/* SPDX-License-Identifier: MIT */
/* Quantization: values worked out by hand. Its property and error tests are
 * in t_nvfp4_nearest.c. */
#include "jitgemm.h"
#include "reference.h"
#include "test.h"

#include <float.h>
#include <math.h>

struct block {
    uint8_t scale, code[16];
};

/* The 16 values of x under tensor_scale. */
static struct block quantize(const float *x, float tensor_scale)
{
    uint8_t values[8], scale;
    struct block block;

    CHECK_INT(jitgemm_quantize(x, 1, 16, 16, tensor_scale, values, &scale),
              JITGEMM_OK);
    block.scale = scale;
    for (int i = 0; i < 16; i++)
        block.code[i] = i % 2 ? values[i / 2] >> 4 : values[i / 2] & 15;
    return block;
}

/* The code of x in a block whose scale is 1. */
static int code_of(float x)
{
    float block[16] = {6, x};
    struct block q = quantize(block, 1);

    CHECK_INT(q.scale, 0x38);
    CHECK_INT(q.code[0], 7);
    CHECK_INT(q.code[2], 0);
    return q.code[1];
}

/* The scale of a block whose largest magnitude is amax. */
static int scale_of(float amax)
{
    float block[16] = {0};

    block[13] = -amax;
    return quantize(block, 1).scale;
}

static void test_values(void)
{
    static const float exact[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    static const struct {
        float bound;
        int below, at, above;
    } bounds[] = {
        {0.25f, 0, 0, 1}, {0.75f, 1, 2, 2}, {1.25f, 2, 2, 3}, {1.75f, 3, 4, 4},
        {2.5f, 4, 4, 5},  {3.5f, 5, 6, 6},  {5.0f, 6, 6, 7},
    };

    for (int i = 0; i < 8; i++) {
        CHECK_INT(code_of(exact[i]), i);
        CHECK_INT(code_of(-exact[i]), i | 8);
    }
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        for (int sign = 0; sign < 2; sign++) {
            float x = sign ? -bounds[i].bound : bounds[i].bound;

            CHECK_INT(code_of(x * (1 - FLT_EPSILON)),
                      bounds[i].below | sign << 3);
            CHECK_INT(code_of(x), bounds[i].at | sign << 3);
            CHECK_INT(code_of(x * (1 + FLT_EPSILON)),
                      bounds[i].above | sign << 3);
        }
    CHECK_INT(code_of(FLT_TRUE_MIN), 0);
    CHECK_INT(code_of(-FLT_TRUE_MIN), 8);
    CHECK_INT(code_of(NAN), 0);
    CHECK_INT(code_of(-NAN), 0);
}

static void test_scales(void)
{
    CHECK_INT(scale_of(6), 0x38);
    CHECK_INT(scale_of(6.75f), 0x39);
    CHECK_INT(scale_of(12), 0x40);
    CHECK_INT(scale_of(6 * 0x1p-6f), 0x08);
    CHECK_INT(scale_of(6 * 0x1p-9f), 0x01);
    for (int code = 1; code < 0x7E; code++) {
        float here = (float)ref_e4m3((unsigned)code);
        float next = (float)ref_e4m3((unsigned)code + 1);
        float tie = 6 * ((here + next) / 2);

        CHECK_INT(scale_of(6 * here), code);
        CHECK_INT(scale_of(tie * (1 - FLT_EPSILON)), code);
        CHECK_INT(scale_of(tie), code + code % 2);
        CHECK_INT(scale_of(tie * (1 + FLT_EPSILON)), code + 1);
    }
    /* Below the least scale: 2^-10 is a tie with 0. */
    CHECK_INT(scale_of(6 * 0x1p-10f), 0);
    CHECK_INT(scale_of(6 * 0x1p-10f * (1 + FLT_EPSILON)), 1);
    CHECK_INT(scale_of(FLT_TRUE_MIN), 0);
    CHECK_INT(scale_of(0), 0);
    CHECK_INT(scale_of(NAN), 0);
    /* Saturation; 464 and 480 are where NaN's code would begin. */
    CHECK_INT(scale_of(6 * 448), 0x7E);
    CHECK_INT(scale_of(6 * 464), 0x7E);
    CHECK_INT(scale_of(6 * 480), 0x7E);
    CHECK_INT(scale_of(FLT_MAX), 0x7E);
    CHECK_INT(scale_of(INFINITY), 0x7E);
}

/* amax 12 under tensor scale 0.5: block scale 12 / 6 / 0.5 = 4, so a code's
 * unit is 2. */
static void test_block(void)
{
    static const float x[16] = {0,  1,  2,  3,  4,  6,  8,   12,
                                -1, -2, -3, -4, -6, -8, -12, 0.4f};
    static const uint8_t wanted[8] = {0x10, 0x32, 0x54, 0x76,
                                      0xA9, 0xCB, 0xED, 0x0F};
    uint8_t values[8], scale;

    CHECK_INT(jitgemm_quantize(x, 1, 16, 16, 0.5f, values, &scale), 0);
    CHECK_INT(scale, 0x48);
    CHECK(!memcmp(values, wanted, sizeof wanted));
}

/* Magnitudes past the range: 448 * 6 is the most, whatever else there is. */
static void test_extremes(void)
{
    float infinite[16] = {-INFINITY, 1344, 2688, 100, NAN, INFINITY};
    float nans[16] = {NAN, 3, -NAN, 6};
    float tiny[16] = {0x1p-13f, -0x1p-13f};
    float zeros[16] = {0.0f, -0.0f};
    struct block q = quantize(infinite, 1);

    CHECK_INT(q.scale, 0x7E);
    CHECK_INT(q.code[0], 15);
    CHECK_INT(q.code[1], 5);
    CHECK_INT(q.code[2], 7);
    CHECK_INT(q.code[3], 0);
    CHECK_INT(q.code[4], 0);
    CHECK_INT(q.code[5], 7);
    q = quantize(nans, 1);
    CHECK_INT(q.scale, 0x38);
    CHECK_INT(q.code[0], 0);
    CHECK_INT(q.code[1], 5);
    CHECK_INT(q.code[2], 0);
    CHECK_INT(q.code[3], 7);
    q = quantize(tiny, 1);
    CHECK_INT(q.scale, 0);
    CHECK_INT(q.code[0], 0);
    CHECK_INT(q.code[1], 0);
    q = quantize(zeros, 1);
    CHECK_INT(q.scale, 0);
    CHECK_INT(q.code[1], 0);
    /* f32 denormals count once the tensor scale is as small. */
    tiny[0] = 6 * FLT_TRUE_MIN;
    tiny[1] = -FLT_TRUE_MIN;
    q = quantize(tiny, FLT_TRUE_MIN);
    CHECK_INT(q.scale, 0x38);
    CHECK_INT(q.code[0], 7);
    CHECK_INT(q.code[1], 10);
    tiny[0] = FLT_MAX;
    CHECK_INT(quantize(tiny, FLT_MAX).scale, 0x23); /* 11/64 for 1/6 */
}

/* Two rows of two blocks, five floats apart; the gap is not read. */
static void test_rows(void)
{
    float x[32 + 5 + 32];
    uint8_t values[33], scales[5];

    for (int i = 0; i < 69; i++)
        x[i] = i < 32 ? (i < 16 ? 6 : -12) : i < 37 ? 1e30f : 0.75f;
    x[68] = 3;
    memset(values, 0x55, sizeof values);
    memset(scales, 0x55, sizeof scales);
    CHECK_INT(jitgemm_quantize(x, 2, 32, 37, 1, values, scales), JITGEMM_OK);
    CHECK_INT(scales[0], 0x38);
    CHECK_INT(scales[1], 0x40);
    CHECK_INT(scales[2], 0x20); /* 0.125 */
    CHECK_INT(scales[3], 0x30); /* 0.5 */
    CHECK_INT(scales[4], 0x55);
    CHECK_INT(values[0], 0x77);
    CHECK_INT(values[15], 0xFF);
    CHECK_INT(values[16], 0x77);
    CHECK_INT(values[24], 0x33);
    CHECK_INT(values[31], 0x73);
    CHECK_INT(values[32], 0x55);
}

static void test_tensor_scale(void)
{
    const float x[] = {1, -2688, NAN, INFINITY, 5, -INFINITY};
    const float none[] = {NAN, INFINITY};
    const float zeros[] = {0, -0.0f, INFINITY};
    const float small[] = {FLT_TRUE_MIN};
    const float large[] = {FLT_MAX, 3};

    CHECK(jitgemm_tensor_scale(x, 6) == 1);
    CHECK(jitgemm_tensor_scale(x, 1) == 1 / 2688.0f);
    CHECK(jitgemm_tensor_scale(none, 2) == 1);
    CHECK(jitgemm_tensor_scale(zeros, 3) == 1);
    CHECK(jitgemm_tensor_scale(NULL, 0) == 1);
    CHECK(jitgemm_tensor_scale(small, 1) == FLT_TRUE_MIN);
    CHECK(jitgemm_tensor_scale(large, 2) == FLT_MAX / 2688);
}

int main(void)
{
    test_values();
    test_scales();
    test_block();
    test_extremes();
    test_rows();
    test_tensor_scale();
    return test_end();
}
