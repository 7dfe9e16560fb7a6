/* SPDX-License-Identifier: MIT */
/* The emulator's f16, bf16 and e4m3 arithmetic against the reference's, which
 * has other formulas and works in f64. */
#include "emu/half.h"

extern "C" {
#include "reference.h"
}
#include "test.h"

using namespace emu;

static bool is_nan(uint16_t half)
{
    return (half & 0x7fff) > 0x7c00;
}

/* Every f16 times 2^-24 to 2^15, 1.5 to 1.999 of them, zeros and NaNs. */
static void test_multiply()
{
    static const uint16_t fractions[] = {0, 1, 0x155, 0x200, 0x2aa, 0x3ff};
    long wrong = 0;

    for (unsigned b_top = 0; b_top < 64; b_top++)
        for (uint16_t fraction : fractions) {
            uint16_t b = static_cast<uint16_t>(b_top << 10 | fraction);

            for (unsigned a = 0; a < 0x10000; a++) {
                uint16_t got = half_mul(static_cast<uint16_t>(a), b);
                double exact =
                    ref_f16_value(static_cast<uint16_t>(a)) * ref_f16_value(b);

                wrong +=
                    exact != exact ? got != half_nan : got != ref_f16(exact);
            }
        }
    CHECK_INT(wrong, 0);
    CHECK_INT(half_mul(0x0001, 0x3800), 0x0000); /* a tie, to even */
    CHECK_INT(half_mul(0x0003, 0x3800), 0x0002); /* a tie, to even */
    CHECK_INT(half_mul(0x0003, 0xb800), 0x8002);
}

/* Every bf16 times as many of all sizes. */
static void test_multiply_bf16()
{
    static const uint16_t fractions[] = {0, 1, 0x15, 0x40, 0x6a, 0x7f};
    long wrong = 0;

    for (unsigned top = 0; top < 512; top += 3)
        for (uint16_t fraction : fractions) {
            uint16_t b = static_cast<uint16_t>(top << 7 | fraction);

            for (unsigned i = 0; i < 0x10000; i++) {
                uint16_t a = static_cast<uint16_t>(i);
                uint16_t got = bf16_mul(a, b);
                double exact = ref_load(REF_BF16, &a, 0) *
                               ref_load(REF_BF16, &b, 0);
                double want = ref_round(REF_BF16, exact);

                wrong += exact != exact
                             ? got != half_nan
                             : ref_load(REF_BF16, &got, 0) != want ||
                                   (got & 0x8000) != ((a ^ b) & 0x8000);
            }
        }
    CHECK_INT(wrong, 0);
    CHECK_INT(bf16_mul(0x0001, 0x3f00), 0x0000); /* a tie, to even */
    CHECK_INT(bf16_mul(0x0003, 0xbf00), 0x8002); /* a tie, to even */
    CHECK_INT(bf16_mul(0x7f7f, 0x4000), 0x7f80);
}

static void check_round(uint32_t bits, long *wrong)
{
    float value = float_of_bits(bits);
    uint16_t got = half_of(value);

    *wrong += value != value ? got != half_nan
                             : got != ref_f16(static_cast<double>(value));
}

/* Each f16, the middle to the next one, and their neighbors in f32; and f32
 * of all sizes. */
static void test_round()
{
    uint64_t random = 1;
    long wrong = 0;

    for (unsigned half = 0; half < 0x10000; half++) {
        uint16_t h = static_cast<uint16_t>(half);

        if (is_nan(h))
            continue;
        uint32_t bits = bits_of_float(half_value(h));
        uint32_t next = bits_of_float(half_value(static_cast<uint16_t>(
            (half & 0x7fff) < 0x7bff ? half + 1 : half)));
        uint32_t middle = bits + (next - bits) / 2;

        wrong += half_value(h) != static_cast<float>(ref_f16_value(h));
        for (uint32_t i = 0; i < 3; i++) {
            check_round(bits + i - 1, &wrong);
            check_round(middle + i - 1, &wrong);
        }
    }
    for (int i = 0; i < 4000000; i++)
        check_round(static_cast<uint32_t>(ref_random(&random)), &wrong);
    CHECK_INT(wrong, 0);
    CHECK_INT(half_of(65519.996f), 0x7bff);
    CHECK_INT(half_of(65520.0f), 0x7c00);
    CHECK_INT(half_of(-1e30f), 0xfc00);
}

static void test_e4m3()
{
    for (int byte = 0; byte < 256; byte++) {
        uint16_t got = half_of_e4m3(static_cast<uint8_t>(byte));

        if ((byte & 0x7f) == 0x7f) {
            CHECK_INT(got, half_nan);
            continue;
        }
        CHECK_INT(got, ref_f16(ref_e4m3(static_cast<unsigned>(byte) & 0x7f)) |
                           (byte & 0x80) << 8);
    }
}

/* Every e4m3, the middle to the next, their neighbors in f32, and f32 of all
 * sizes, to the nearest by trying all. */
static void check_to_e4m3(uint32_t bits, long *wrong)
{
    float value = float_of_bits(bits);
    double magnitude = value != value ? 0 : static_cast<double>(value);
    int best = 0;

    if (magnitude < 0)
        magnitude = -magnitude;
    if (magnitude > 1e6)
        magnitude = 1e6;
    for (int code = 1; code < 0x7f; code++) {
        double here = magnitude - ref_e4m3(static_cast<unsigned>(code));
        double before = magnitude - ref_e4m3(static_cast<unsigned>(best));

        here = here < 0 ? -here : here;
        before = before < 0 ? -before : before;
        if (here < before || (here == before && code % 2 == 0))
            best = code;
    }
    *wrong += e4m3_of(value) !=
              (value != value ? 0x7f : best | int(bits >> 24 & 0x80));
}

static void test_to_e4m3()
{
    uint64_t random = 2;
    long wrong = 0;

    for (unsigned code = 0; code < 0x7e; code++) {
        uint32_t bits = bits_of_float(static_cast<float>(ref_e4m3(code)));
        uint32_t next = bits_of_float(static_cast<float>(ref_e4m3(code + 1)));
        uint32_t middle = bits_of_float(
            (float_of_bits(bits) + float_of_bits(next)) / 2);

        for (uint32_t i = 0; i < 3; i++) {
            check_to_e4m3(bits + i - 1, &wrong);
            check_to_e4m3(middle + i - 1, &wrong);
            check_to_e4m3((middle + i - 1) | 0x80000000, &wrong);
        }
    }
    for (int i = 0; i < 200000; i++) {
        uint32_t bits = static_cast<uint32_t>(ref_random(&random));

        check_to_e4m3(bits, &wrong);
        check_to_e4m3((bits & 0x807fffff) | (114 + (bits >> 8) % 24) << 23,
                      &wrong);
    }
    CHECK_INT(wrong, 0);
}

static void test_max()
{
    CHECK_INT(half_max(0x8000, 0x0000, 0x7c00), 0x0000);
    CHECK_INT(half_max(0x0000, 0x8000, 0x7c00), 0x0000);
    CHECK_INT(half_max(0xbc00, 0xc000, 0x7c00), 0xbc00);
    CHECK_INT(half_max(0x7c01, 0xfc00, 0x7c00), 0xfc00);
    CHECK_INT(half_max(0xfc00, 0xfe00, 0x7c00), 0xfc00);
    CHECK_INT(half_max(0xffff, 0x7e00, 0x7c00), half_nan);
    CHECK_INT(half_max(0x7c01, 0x7f80, 0x7f80), 0x7f80);
    CHECK_INT(half_max(0x3c00, 0x3c01, 0x7f80), 0x3c01);
}

int main()
{
    test_multiply();
    test_multiply_bf16();
    test_round();
    test_e4m3();
    test_to_e4m3();
    test_max();
    return test_end();
}
