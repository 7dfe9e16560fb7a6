/* SPDX-License-Identifier: MIT */
/* Numbers of 32, 16 and 8 bits, bytes of words, and words of a warp. */
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "cases.h"
#include "reference.h"

enum { ROUND = 0x10000 }; /* a multiple of what runs at once */

static void compare(const char *name, int what, const uint32_t *in, int count)
{
    struct both_case c = {
        .name = name,
        .program = "float",
        .blocks = 8,
        .threads = 256,
        .in = in,
        .in_bytes = (size_t)count * 8,
        .out_bytes = (size_t)count * 4,
        .count = count,
        .what = what,
    };

    both_compare(&c);
}

/* All 16-bit values, beside shuffled ones and a few. */
static void pairs(bool small)
{
    static const uint16_t few[] = {0x0000, 0x8000, 0x0001, 0x8001,
                                   0x7c00, 0xfc00, 0x7c01, 0xffff,
                                   0x7f80, 0xff80, 0x7f81, 0x3c00};
    int rounds = small ? 4 : 32, count = rounds * ROUND;
    uint32_t *in = both_allocate((size_t)count * 8);
    uint64_t seed = 31;

    for (int i = 0; i < count; i++) {
        uint32_t low = (uint32_t)i % ROUND;
        uint32_t other = i / ROUND % 2 ? (uint32_t)ref_random(&seed)
                                       : few[ref_random(&seed) % 12];

        in[2 * i] = low | ((low * 40503) & 0xffff) << 16;
        in[2 * i + 1] = (other & 0xffff) | (uint32_t)few[i % 12] << 16;
    }
    compare("max_f16x2", FLOAT_MAX_F16, in, count);
    compare("max_bf16x2", FLOAT_MAX_BF16, in, count);
    compare("max_nan_f16x2, abs_f16x2", FLOAT_MAX_NAN_F16, in, count);
    compare("min_u16x2", FLOAT_MIN_U16, in, count);
    compare("cvt_f32_f16", FLOAT_F16, in, ROUND);
    compare("prmt", FLOAT_PRMT, in, count);
    free(in);
}

static uint32_t bits_of(double x)
{
    float value = (float)x;
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Each e4m3, the middle to the next, their neighbours in f32, both signs; any
 * bits; any near e4m3's range. The emulator's poison is none of them. */
static void to_e4m3(void)
{
    enum { COUNT = 4 * ROUND };
    static uint32_t in[2 * COUNT];
    uint64_t seed = 32;
    int count = 0;

    for (unsigned code = 0; code < 0x7f; code++) {
        double x = ref_e4m3(code);
        double next = code < 0x7e ? ref_e4m3(code + 1) : 480;
        uint32_t at[] = {bits_of(x), bits_of((x + next) / 2)};

        for (uint32_t i = 0; i < 12; i++)
            in[count++] = ((at[i / 6] + i % 3 - 1) & 0x7fffffff) | (i / 3 % 2)
                                                                       << 31;
    }
    while (count < 2 * COUNT) {
        uint32_t bits = (uint32_t)ref_random(&seed);

        if (count % 2)
            bits = (bits & 0x807fffff) | (114 + (bits >> 8) % 24) << 23;
        in[count++] = bits;
    }
    compare("cvt_e4m3x2_f32", FLOAT_E4M3, in, COUNT);
    compare("max_nan_f32, abs_f32", FLOAT_MAX_NAN, in + 4096, COUNT - 4096);
    compare("mul_f32", FLOAT_MUL, in + 4096, COUNT - 4096);
    compare("fma_f32", FLOAT_FMA, in + 4096, COUNT - 4096);
    compare("swiglu", FLOAT_SWIGLU, in + 4096, COUNT - 4096);
    compare("swiglu_oai", FLOAT_SWIGLU_OAI, in + 4096, COUNT - 4096);
}

/* Every fraction, with some exponent from 0 to 125. */
static void reciprocals(bool small)
{
    int step = small ? 61 : 1, count = 0x800000 / step;
    uint32_t *in = both_allocate((size_t)count * 8);

    for (int i = 0; i < count; i++) {
        in[2 * i] = (uint32_t)(i * step) | (127u + (uint32_t)i % 126) << 23;
        in[2 * i + 1] = 0;
    }
    compare("rcp_approx_f32", FLOAT_RCP, in, count);
    compare("reciprocal", FLOAT_RECIPROCAL, in, count);
    free(in);
}

static void of_warps(void)
{
    static uint32_t in[2 * ROUND];
    uint64_t seed = 33;

    for (int i = 0; i < 2 * ROUND; i++)
        in[i] = (uint32_t)ref_random(&seed) >> (i / 64 % 32);
    compare("redux_min", FLOAT_REDUX_MIN, in, ROUND);
    compare("redux_add", FLOAT_REDUX_ADD, in, ROUND);
    compare("shfl_up", FLOAT_SHFL_UP, in, ROUND);
}

void cases_float(bool small)
{
    pairs(small);
    to_e4m3();
    reciprocals(small);
    of_warps();
}
