/* SPDX-License-Identifier: MIT */
/* Quantization of random numbers: every scale and every value is the nearest
 * code there is, even on a tie. And the arguments it rejects. */
#include "jitgemm.h"
#include "reference.h"
#include "test.h"

#include <math.h>

enum { ROWS = 40, K = 64, LDX = 67 };

/* The code of 0 .. count-1 whose value is nearest to x. All differences of
 * values that could tie are exact in float64. */
static unsigned nearest(double x, double unit, double (*decode)(unsigned),
                        unsigned count)
{
    unsigned best = 0;

    for (unsigned code = 1; code < count; code++) {
        double here = fabs(x - decode(code) * unit);
        double before = fabs(x - decode(best) * unit);

        if (here < before || (here == before && code % 2 == 0))
            best = code;
    }
    return best;
}

static void check_block(const float *x, float tensor_scale,
                        const uint8_t *values, uint8_t scale)
{
    double amax = 0, unit = ref_e4m3(scale) * (double)tensor_scale;
    int wrong = 0;

    for (int i = 0; i < 16; i++)
        amax = fmax(amax, fabs((double)x[i]));
    CHECK_INT(scale, nearest(amax, 6 * (double)tensor_scale, ref_e4m3, 127));
    for (int i = 0; i < 16; i++) {
        unsigned code = i % 2 ? values[i / 2] >> 4 : values[i / 2] & 15u;
        unsigned want =
            scale ? nearest(fabs((double)x[i]), unit, ref_e2m1, 8) : 0;

        if (scale && signbit(x[i]))
            want |= 8;
        wrong += code != want;
    }
    CHECK_INT(wrong, 0);
}

/* Uniform in [-1, 1) times 2^0 .. 2^-spread, on a grid of 2^-bits so that
 * few bits make many ties. */
static float random_float(uint64_t *state, int bits, unsigned spread)
{
    uint64_t random = ref_random(state);
    double unit = ldexp(1, bits - 1);
    double x = floor((double)(random >> 11) * 0x1p-53 * 2 * unit) / unit - 1;

    return (float)ldexp(x, -(int)(random % (spread + 1)));
}

static void check_random(int bits, unsigned spread, float tensor_scale)
{
    static float x[ROWS * LDX];
    static uint8_t values[ROWS * K / 2], scales[ROWS * K / 16];
    uint64_t state = (uint64_t)bits << 8 | spread;

    for (int i = 0; i < ROWS * LDX; i++)
        x[i] = random_float(&state, bits, spread);
    if (tensor_scale == 0)
        tensor_scale = jitgemm_tensor_scale(x, ROWS * LDX);
    CHECK_INT(jitgemm_quantize(x, ROWS, K, LDX, tensor_scale, values, scales),
              JITGEMM_OK);
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < K; k += 16)
            check_block(x + row * LDX + k, tensor_scale,
                        values + (row * K + k) / 2,
                        scales[(row * K + k) / 16]);
}

/* The floats next to every tie under a tensor scale of 24 bits: an error of
 * one rounding in the quotient would show. */
static void check_near_ties(float tensor_scale)
{
    static const double bounds[7] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};

    for (unsigned code = 1; code < 0x7E; code++) {
        double tie = (ref_e4m3(code) + ref_e4m3(code + 1)) / 2;
        float x[16] = {(float)(tie * 6 * tensor_scale)};
        uint8_t values[8], scale;

        for (int pass = 0; pass < 2; pass++) {
            CHECK_INT(
                jitgemm_quantize(x, 1, 16, 16, tensor_scale, values, &scale),
                JITGEMM_OK);
            check_block(x, tensor_scale, values, scale);
            for (int i = 0; i < 7; i++)
                x[1 + i] = (float)(bounds[i] * ref_e4m3(scale) * tensor_scale);
        }
    }
}

static void check_error(jitgemm_status got, jitgemm_status want,
                        const char *argument, int64_t value, int64_t limit)
{
    const jitgemm_error *error = jitgemm_last_error();

    CHECK_INT(got, want);
    CHECK_INT(error->status, want);
    CHECK_STR(error->argument, argument);
    CHECK_INT(error->group, -1);
    CHECK_INT(error->got, value);
    CHECK_INT(error->want, limit);
    CHECK(!strncmp(error->text, argument, strlen(argument)));
}

static void test_errors(void)
{
    static const struct {
        int64_t rows, k, ldx;
        jitgemm_status status;
        const char *argument;
        int64_t got, want;
    } sizes[] = {
        {-1, 16, 16, JITGEMM_E_SHAPE, "rows", -1, 0},
        {1, 0, 16, JITGEMM_E_SHAPE, "k", 0, 16},
        {1, -16, 16, JITGEMM_E_SHAPE, "k", -16, 16},
        {1, 24, 24, JITGEMM_E_SHAPE, "k", 24, 16},
        {1, 16, 15, JITGEMM_E_ARGUMENT, "ldx", 15, 16},
        {0, 16, -16, JITGEMM_E_ARGUMENT, "ldx", -16, 16},
        {(int64_t)1 << 40, 16, (int64_t)1 << 22, JITGEMM_E_SHAPE, "rows",
         (int64_t)1 << 40, 0},
        {1, (int64_t)1 << 61, (int64_t)1 << 61, JITGEMM_E_SHAPE, "rows", 1, 0},
    };
    static const float bad[] = {0, -1, INFINITY, NAN};
    float x[16] = {1};
    uint8_t values[8] = {9}, scales[1] = {9};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_error(jitgemm_quantize(x, sizes[i].rows, sizes[i].k,
                                     sizes[i].ldx, 1, values, scales),
                    sizes[i].status, sizes[i].argument, sizes[i].got,
                    sizes[i].want);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_error(jitgemm_quantize(x, 1, 16, 16, bad[i], values, scales),
                    JITGEMM_E_ARGUMENT, "tensor_scale", 0, 0);
    check_error(jitgemm_quantize(NULL, 1, 16, 16, 1, values, scales),
                JITGEMM_E_ARGUMENT, "x", 0, 0);
    check_error(jitgemm_quantize(x, 1, 16, 16, 1, NULL, scales),
                JITGEMM_E_ARGUMENT, "values", 0, 0);
    check_error(jitgemm_quantize(x, 1, 16, 16, 1, values, NULL),
                JITGEMM_E_ARGUMENT, "scales", 0, 0);
    CHECK_INT(values[0], 9);
    CHECK_INT(scales[0], 9);

    CHECK_INT(jitgemm_quantize(x, 0, 16, 16, 1, values, scales), JITGEMM_OK);
    CHECK_INT(scales[0], 9);
    /* One row: ldx says nothing about memory. */
    CHECK_INT(jitgemm_quantize(x, 1, 16, INT64_MAX, 1, values, scales),
              JITGEMM_OK);
}

int main(void)
{
    for (int bits = 3; bits <= 24; bits += 3)
        for (unsigned spread = 0; spread <= 40; spread += 8) {
            check_random(bits, spread, 0);
            check_random(bits, spread, 0.5f / 448);
            check_random(bits, spread, 0.0078125f);
            check_random(bits, spread, 1e-5f);
        }
    check_near_ties(0.1f);
    check_near_ties(1 / 3.0f);
    check_near_ties(1e-5f);
    check_near_ties(0x1.fffffep-12f);
    test_errors();
    return test_end();
}
