/* SPDX-License-Identifier: MIT */
/* The reference of conversions: blocks worked out by hand, and the library's
 * own quantizer, which has other formulas and rounds once. */
#include <math.h>
#include <stdlib.h>

#include "conversion_case.h"
#include "test.h"

static void check_block(const double x[16], float global, unsigned scale,
                        const char *codes)
{
    static const char digits[] = "0123456789abcdef";
    char got[17] = "";
    uint8_t values[8];

    CHECK_INT(ref_quantize_block(x, global, values), scale);
    for (int i = 0; i < 16; i++)
        got[i] = digits[values[i / 2] >> 4 * (i % 2) & 15];
    CHECK_STR(got, codes);
}

static void test_blocks(void)
{
    static const double ties[16] = {6,    .25, .75, 1.25, 1.75, 2.5,
                                    3.5,  5,   -5,  -.25, -.75, -0.,
                                    5.01, .24, .26, 1.251};
    static const double odd[16] = {NAN, -INFINITY, 1, -3000, -NAN, 1e30};
    static const double small[16] = {1e-3, -1e-3};
    double x[16];

    check_block(ties, 1, 0x38, "70224466e8a87013");
    /* The largest decides: 6 * 448. */
    check_block(odd, 1, 0x7e, "0f0f870000000000");
    check_block(small, 1, 0, "0000000000000000");
    /* 1e-3 * 6 is 3.07 * 2^-9: a scale of 3 * 2^-9, and 6.1 of it. */
    check_block(small, 36, 3, "7f00000000000000");
    check_block(ties, NAN, 0, "0000000000000000");
    check_block(ties, -1, 0, "0000000000000000");
    for (int i = 0; i < 16; i++)
        x[i] = i ? 0 : -0.;
    check_block(x, 1, 0, "0000000000000000");
}

/* A multiplier that is a power of two is exact; then only 1/6 and 1/scale are
 * rounded here and not there: codes differ where a value is between two. */
static void test_quantizer(void)
{
    uint64_t seed = 4;
    int differ = 0, far = 0;

    for (int n = 0; n < 20000; n++) {
        float x[16];
        double exact[16];
        uint8_t values[8], theirs[8], scale, their_scale;

        for (int i = 0; i < 16; i++) {
            double unit = (double)(ref_random(&seed) >> 11) * 0x1p-52 - 1;

            exact[i] = ref_f16_value(ref_f16(unit * 50));
            x[i] = (float)exact[i];
        }
        scale = ref_quantize_block(exact, 16, values);
        CHECK_INT(
            jitgemm_quantize(x, 1, 16, 16, 1.0f / 16, theirs, &their_scale),
            JITGEMM_OK);
        CHECK_INT(scale, their_scale);
        for (int i = 0; i < 16; i++) {
            int mine = values[i / 2] >> 4 * (i % 2) & 15;
            int other = theirs[i / 2] >> 4 * (i % 2) & 15;

            differ += mine != other;
            far += abs(mine - other) > 1;
        }
    }
    CHECK_INT(far, 0);
    CHECK(differ < 20000 * 16 / 1000);
    printf("%d of %d codes differ\n", differ, 20000 * 16);
}

/* Near to the real function wherever that is not tiny. */
static void test_swiglu(void)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    double worst = 0;

    for (int i = -100 * 64; i <= 200 * 64; i++) {
        double gate = i / 64.0, silu = gate / (1 + exp(-gate));
        double got = (double)ref_swiglu((float)gate, 3);

        if (gate >= -87)
            worst = fmax(worst, fabs(got - 3 * silu) - fabs(silu) * 0x1p-17);
        else
            CHECK(got == 0);
    }
    CHECK(worst <= 0);
    for (int i = 0; i < 9; i++) {
        float y = ref_swiglu(odd[i / 3], odd[i % 3]);
        bool number = odd[i / 3] > 0 && i % 3;

        CHECK(number ? isinf(y) : y == 0 && !signbit(y));
    }
    CHECK(signbit(ref_swiglu(-1e30f, 1)));
    CHECK(ref_swiglu(3e38f, 1) == 3e38f);
    CHECK(isinf(ref_swiglu(3e38f, -2)));
}

/* Likewise that of gpt-oss, of which no number gives 0, either. */
static void test_swiglu_oai(void)
{
    double worst = 0;

    for (int i = -60 * 64; i <= 20 * 64; i++)
        for (int j = -9; j <= 9; j++) {
            double gate = fmin(i / 64.0, 7), up = fmax(fmin(j, 7), -7) + 1;
            double glu = gate / (1 + exp(-1.702 * gate));
            double got = (double)ref_swiglu_oai((float)i / 64, (float)j);

            if (gate >= -51)
                worst = fmax(worst, fabs(got - up * glu) -
                                        fabs(up * glu) * 0x1p-17);
            else
                CHECK(got == 0);
        }
    CHECK(worst <= 0);
    CHECK(ref_swiglu_oai(INFINITY, INFINITY) == ref_swiglu_oai(7, 7));
    CHECK(ref_swiglu_oai(9, -INFINITY) == ref_swiglu_oai(7, -7));
    CHECK(ref_swiglu_oai(-INFINITY, 1) == 0);
    CHECK(ref_swiglu_oai(NAN, 1) == 0 && ref_swiglu_oai(1, NAN) == 0);
}

int main(void)
{
    test_blocks();
    test_quantizer();
    test_swiglu();
    test_swiglu_oai();
    return test_end();
}
