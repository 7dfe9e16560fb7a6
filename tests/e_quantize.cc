/* SPDX-License-Identifier: MIT */
/* Blocks of the kernels against the reference's definition, byte by byte:
 * every f16 and bf16, beside others that choose the scale, for every scale and
 * several multipliers; and blocks of f32. */
#include <emu.h>

#include <quant/nvfp4_block.cuh>
#include <quant/swiglu.cuh>

#include "unit.h"
extern "C" {
#include "conversion_case.h"
}

using namespace emu_test;

namespace {

long wrong, usual;
quant::block_factors factors;

/* Exact, so that no scale is rounded; then any; the least; what can just be
 * divided by any scale, and what cannot; what is no multiplier. */
const float globals[] = {1,      2688,  0.37f, 7.77f, 1e-20f, 0x1p-149f,
                         1e-38f, 1e35f, 3e38f, 0,     -1,
                         __builtin_nanf("")};

void set_factors(float global)
{
    for (u32 byte = 0; byte < factors.count; byte++)
        factors.set(byte, global);
}

double value(bool bf16, u32 bits)
{
    u16 half = u16(bits);

    return ref_load(bf16 ? REF_BF16 : REF_F16,
                    reinterpret_cast<uint8_t *>(&half), 0);
}

void check(u32 scale, const u32 *words, const double *x, float global)
{
    uint8_t values[8];
    u32 right = ref_quantize_block(x, global, values);

    wrong += scale != right || memcmp(values, words, 8) != 0;
    usual += right >= 8;
}

template <bool bf16> void check_pairs(const u16 *halves, float global)
{
    u32 pairs[8], words[2];
    double x[16];

    for (int i = 0; i < 16; i++)
        x[i] = value(bf16, halves[i]);
    memcpy(pairs, halves, sizeof pairs);
    check(quant::quantize<bf16>(pairs, global, factors, words), words, x,
          global);
}

/* The magnitude whose block has about that scale. */
u16 half_near(bool bf16, double x)
{
    float rounded = float(ref_round(REF_BF16, x));

    return bf16 ? u16(__float_as_uint(rounded) >> 16) : ref_f16(x);
}

/* All values, 15 at a time beside one that chooses each of the scales in turn,
 * and the values alone. */
template <bool bf16> void every_value()
{
    uint64_t seed = 1;

    for (float global : globals) {
        set_factors(global);
        for (u32 first = 0; first < 0x10000; first += 15) {
            u32 byte = first / 15 % 127;
            u16 halves[16];

            for (u32 i = 0; i < 16; i++)
                halves[i] = u16(first + i);
            check_pairs<bf16>(halves, global);
            halves[ref_random(&seed) % 16] =
                half_near(bf16, 6 * ref_e4m3(byte) / double(global));
            check_pairs<bf16>(halves, global);
        }
    }
}

/* For every scale, values around and up to its largest. */
template <bool bf16> void every_scale()
{
    uint64_t seed = 2;

    for (float global : globals) {
        set_factors(global);
        for (u32 i = 0; i < 127 * 64; i++) {
            double most = 6 * ref_e4m3(i % 127) / double(global);
            u16 halves[16];

            for (u16 &half : halves) {
                u64 random = ref_random(&seed);
                /* In quarters of the code's unit, or anywhere. */
                double part = random % 2
                                  ? double(random >> 32 & 31) / 24
                                  : double(random >> 11) * 0x1p-53 * 1.2;

                half = u16(half_near(bf16, most * part) ^
                           (random >> 8 & 1) << 15);
            }
            check_pairs<bf16>(halves, global);
        }
    }
}

/* What is no number has lost its sign before. */
void floats()
{
    uint64_t seed = 3;

    for (float global : globals) {
        set_factors(global);
        for (int n = 0; n < 20000; n++) {
            int exponent = int(ref_random(&seed) % 40) - 20;
            float x[16];
            double exact[16];
            u32 words[2];

            for (int i = 0; i < 16; i++) {
                u64 random = ref_random(&seed);
                u32 bits = u32(random);

                x[i] = n % 4 ? float(__builtin_ldexp(
                                   double(int(bits)) * 0x1p-31, exponent))
                       : random >> 32 & 7 ? 0.25f * float(int(bits % 25) - 12)
                                          : __uint_as_float(bits);
                exact[i] = x[i] == x[i] ? double(x[i]) : 0;
            }
            check(quant::quantize(x, global, factors, words), words, exact,
                  global);
        }
    }
}

void compare()
{
    every_value<false>();
    every_value<true>();
    every_scale<false>();
    every_scale<true>();
    floats();
}

} // namespace

int main()
{
    check_report(compare, 1, "");
    CHECK_INT(wrong, 0);
    CHECK(usual > 100000);
    return test_end();
}
