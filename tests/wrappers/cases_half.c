/* SPDX-License-Identifier: MIT */
/* Pairs of f16 and bf16: every value times many, every e4m3 pair, every f16 and
 * what is halfway between two, every e2m1 code with every scale. */
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "cases.h"
#include "reference.h"

static void compare(const char *name, int what, const uint32_t *in, int count)
{
    struct both_case c = {
        .name = name,
        .program = "half",
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

/* Low halves run through all values, high ones are shuffled; the factors are
 * zeros, subnormals, ones, ties, the largest, infinities, NaNs, random. */
static void multiply(bool small)
{
    static const uint16_t factors[] = {
        0x0000, 0x8000, 0x0001, 0x8001, 0x0003, 0x03ff, 0x0400, 0x8400,
        0x3800, 0xb800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x3dff, 0x3e00,
        0x4000, 0x5800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfdff,
        0x7e00, 0xfe01, 0x7fff, 0xffff, 0x1400, 0x3555, 0xb6db, 0x7777,
        /* of bf16: as above, and what NVFP4 is decoded with */
        0x007f, 0x0080, 0x8080, 0x3f00, 0x3f7f, 0x3f80, 0xbf80, 0x3f81,
        0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0x7b00, 0x7fbf};
    enum { FACTORS = sizeof factors / sizeof *factors };
    int rounds = small ? 4 : FACTORS + 64, count = rounds * 0x10000;
    uint32_t *in = both_allocate((size_t)count * 8);
    uint64_t seed = 11;

    for (int i = 0; i < count; i++) {
        uint32_t low = (uint32_t)i & 0xffff, round = (uint32_t)i >> 16;
        uint32_t high = (low * 40503 + round * 7919) & 0xffff;
        uint32_t random = (uint32_t)ref_random(&seed);
        uint32_t factor = round < FACTORS ? factors[round] : random & 0xffff;
        uint32_t other = round < FACTORS ? factors[(round + low) % FACTORS]
                                         : random >> 16;

        in[2 * i] = low | high << 16;
        in[2 * i + 1] = factor | other << 16;
        if (round % 2) { /* the other operand */
            in[2 * i] = factor | other << 16;
            in[2 * i + 1] = low | high << 16;
        }
    }
    compare("mul_f16x2_half, low", HALF_MUL_LOW, in, count);
    compare("mul_f16x2_half, high", HALF_MUL_HIGH, in, count);
    compare("mul_bf16x2_half, low", HALF_MUL_BF16_LOW, in, count);
    compare("mul_bf16x2_half, high", HALF_MUL_BF16_HIGH, in, count);
    compare("select_bits", HALF_SELECT, in, count);
    free(in);
}

/* What is above the low 16 bits must not matter. */
static void from_e4m3(void)
{
    enum { COUNT = 0x20000 };
    uint32_t *in = both_allocate((size_t)COUNT * 8);
    uint64_t seed = 12;

    for (uint32_t i = 0; i < COUNT; i++) {
        in[2 * i] =
            (i & 0xffff) | (i >> 16 ? (uint32_t)ref_random(&seed) << 16 : 0);
        in[2 * i + 1] = 0;
    }
    compare("cvt_f16x2_e4m3x2", HALF_E4M3, in, COUNT);
    free(in);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The emulator's poison of accumulators is no operand. */
static uint32_t operand(uint32_t bits)
{
    return (bits & 0x7fffffff) == 0x7fc0dead ? bits + 1 : bits;
}

/* Each f16, the middle to the next, their neighbors in f32; random bits;
 * random sizes near f16's; infinities, NaNs. */
static void from_f32(bool small)
{
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7f800001,
        0xffc00000, 0x7fffffff, 0xffffffff, 0x7f7fffff, 0xff7fffff,
        0x477fefff, 0x477ff000, 0x477fe000, 0x33000000, 0x33000001,
        0x32ffffff, 0x387fffff, 0x00000001};
    enum { SPECIAL = sizeof special / sizeof *special };
    int random = small ? 100000 : 2000000, count = 0;
    uint32_t *in =
        both_allocate(((size_t)random + 6 * 0x10000 + SPECIAL + 2) * 4);
    uint64_t seed = 13;

    for (uint32_t i = 0; i < 0x10000; i++) {
        uint32_t next = (i & 0x7fff) < 0x7bff ? i + 1 : i;
        uint32_t bits = bits_of((float)ref_f16_value((uint16_t)i));
        uint32_t middle =
            bits + (bits_of((float)ref_f16_value((uint16_t)next)) - bits) / 2;

        for (uint32_t j = 0; j < 3; j++) {
            in[count++] = operand(bits + j - 1);
            in[count++] = operand(middle + j - 1);
        }
    }
    for (int i = 0; i < SPECIAL; i++)
        in[count++] = special[i];
    for (int i = 0; i < random; i++) {
        uint32_t bits = (uint32_t)ref_random(&seed);

        if (i % 2) /* 2^-27 to 2^17 */
            bits = (bits & 0x807fffff) | (100 + (bits >> 8) % 44) << 23;
        in[count++] = operand(bits);
    }
    compare("cvt_f16x2_f32", HALF_F32, in, count / 2);
    compare("cvt_bf16x2_f32", HALF_BF16, in, count / 2);
    free(in);
}

/* A word of eight codes; each nibble takes all values, with each scale and
 * each pair of nibbles. */
static void decode(void)
{
    enum { COUNT = 16 * 4 * 256 };
    uint32_t *in = both_allocate((size_t)COUNT * 8);

    for (uint32_t i = 0; i < COUNT; i++) {
        in[2 * i] = 0x11111111u * (i % 16) ^ 0x76543210u;
        in[2 * i + 1] = i / 64 | (i / 16 % 4) << 8;
    }
    compare("a code times a scale", HALF_DECODE, in, COUNT);
    compare("a code times a scale, bf16", HALF_DECODE_BF16, in, COUNT);
    free(in);
}

void cases_half(bool small)
{
    multiply(small);
    from_e4m3();
    from_f32(small);
    decode();
}
