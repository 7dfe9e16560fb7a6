/* SPDX-License-Identifier: MIT */
/* Shared memory is full of numbers, so that a descriptor read in another way
 * finds other ones. */
#include "wgmma_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "reference.h"

int wgmma_inputs_products = WGMMA_PRODUCTS;
static uint64_t seed = 51;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)((ref_random(&seed) >> 32) * limit >> 32);
}

struct layout {
    uint32_t span; /* bytes of the swizzle, or 0 */
    /* 8 rows to the next, in atoms of 8 * span bytes; without a swizzle from
     * 8 k to the next and from 8 rows to the next, in bytes */
    uint32_t leading, stride;
    uint32_t start; /* of the first atom, in atoms; bytes without a swizzle */
};

static const struct layout layouts[] = {
    {128, 0, 1, 0},    {128, 0, 1, 1},    {128, 0, 2, 0},   {128, 0, 2, 1},
    {64, 0, 1, 0},     {64, 0, 1, 1},     {64, 0, 3, 2},    {32, 0, 1, 0},
    {32, 0, 1, 3},     {32, 0, 5, 1},     {0, 128, 256, 0}, {0, 4096, 128, 0},
    {0, 128, 384, 48}, {0, 144, 272, 16},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* Layout 0 {128, 0, 1, 0} is the kernels'. Each product begins elsewhere in a
 * row of the swizzle, as theirs do. */
static uint64_t descriptor(const struct layout *layout, int product)
{
    uint64_t type = layout->span == 128  ? 1
                    : layout->span == 64 ? 2
                    : layout->span == 32 ? 3
                                         : 0;
    uint32_t atom = 8 * layout->span, steps = layout->span / 32;
    uint32_t stride = atom ? layout->stride * atom : layout->stride;
    uint32_t start =
        atom ? layout->start * atom + 32 * ((uint32_t)product % steps)
             : layout->start + 16 * (uint32_t)product;

    return type << 62 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)(layout->leading >> 4) << 16 | start >> 4;
}

/* What the layouts reach, and some more. */
static uint32_t image_bytes(int n)
{
    uint32_t groups = (uint32_t)n / 8;

    return 2048 * groups + 8192;
}

static bool bf16; /* of the case being made; else f16 */

static uint16_t rounded(double value)
{
    float upper = (float)ref_round(REF_BF16, value);
    uint32_t bits;

    memcpy(&bits, &upper, sizeof bits);
    return bf16 ? (uint16_t)(bits >> 16) : ref_f16(value);
}

static double integer(int limit)
{
    return (double)(int)below((uint32_t)(2 * limit + 1)) - limit;
}

static uint16_t subnormal(bool a)
{
    if (!bf16)
        return rounded(integer(255) * 0x1p-24);
    return rounded(a ? integer(127) * 0x1p-133 : integer(255) * 0x1p100);
}

static uint16_t special(void)
{
    static const uint16_t list[2][6] = {
        {0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7fff, 0x7c01},
        {0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7fff, 0x7f81}};

    return list[bf16][below(6)];
}

/* Any finite f16, or bf16 whose products are far from the ends of f32. */
static uint16_t any(void)
{
    uint16_t bits = (uint16_t)below(0x10000);

    if (bf16)
        return (uint16_t)((bits & 0x807f) | (77 + below(100)) << 7);
    return (bits & 0x7c00) == 0x7c00 ? bits ^ 0x4000 : bits;
}

static uint16_t number(enum wgmma_numbers numbers, bool a)
{
    switch (numbers) {
    case WGMMA_INTEGERS:
        return rounded(integer(63) * (a ? 0.125 : 4));
    case WGMMA_SUBNORMAL:
        return subnormal(a);
    case WGMMA_SPECIAL:
        return below(256) ? rounded(integer(15)) : special();
    case WGMMA_KEPT:
        return a ? 0 : below(0x10000) & 0xbfff; /* finite: below 2 */
    case WGMMA_ZEROS:
        return below(0x10000) & 0x8000;
    case WGMMA_TRUNCATED: /* products: quarters */
        return rounded(integer(15) / 2);
    case WGMMA_NVFP4: /* as decoded: times 2^-7 */
        return rounded(ref_e2m1(below(16)) * ref_e4m3(below(127)) / 128);
    case WGMMA_UNIFORM:
        return rounded(integer(1 << 20) * 0x1p-20);
    default:
        return any();
    }
}

static uint32_t accumulator(enum wgmma_numbers numbers)
{
    uint32_t any = (uint32_t)ref_random(&seed), bits;
    float value = 0;

    switch (numbers) {
    case WGMMA_INTEGERS:
        value = below(4) ? (float)integer(1 << 20) : 0;
        break;
    case WGMMA_SUBNORMAL:
        value = (float)integer(1 << 20) * (bf16 ? 0x1p-33f : 0x1p-48f);
        break;
    case WGMMA_SPECIAL:
        if (below(32) == 0) /* any NaN but the emulator's poison */
            return any & 1 ? 0x7f800000 | (any & 0x803fffff)
                           : 0x7f800000 | (any & 0x80000000);
        value = (float)integer(1000);
        break;
    case WGMMA_KEPT:
        if ((any & 0x7f800000) == 0x7f800000)
            any ^= 0x40000000;
        if (below(8) == 0)
            any &= 0x807fffff; /* subnormal */
        return any << 1 ? any : 0;
    case WGMMA_ZEROS:
        return any & 0x80000000;
    case WGMMA_TRUNCATED: /* whole numbers of 24 bits, also in the end */
        value = (float)(0xc00000 + (int)(any >> 11));
        value = any & 1 ? -value : value;
        break;
    case WGMMA_NVFP4:
    case WGMMA_UNIFORM:
        value = below(2) ? (float)integer(1 << 20) * 0x1p-18f : 0;
        break;
    default:
        value = (float)integer(1 << 20) * 0x1p-10f;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static size_t d_bytes(int n)
{
    return (size_t)n / 2 * WGMMA_THREADS * sizeof(float);
}

static size_t block_bytes(int n)
{
    return sizeof(struct wgmma_operands) + d_bytes(n) + image_bytes(n);
}

static void fill(unsigned char *block, int n, enum wgmma_numbers numbers,
                 const struct layout *layout)
{
    struct wgmma_operands *operands = (void *)block;
    uint32_t *d = (void *)(block + sizeof *operands);
    uint16_t *image = (void *)(d + WGMMA_THREADS * n / 2);

    for (int i = 0; i < WGMMA_PRODUCTS; i++) {
        operands->b[i] = descriptor(layout, i);
        for (int j = 0; j < WGMMA_THREADS * 4; j++)
            operands->a[i][j / 4][j % 4] =
                i < wgmma_inputs_products
                    ? number(numbers, true) | (uint32_t)number(numbers, true)
                                                  << 16
                    : 0;
    }
    for (int i = 0; i < WGMMA_THREADS * n / 2; i++)
        d[i] = accumulator(numbers);
    for (uint32_t i = 0; i < image_bytes(n) / 2; i++)
        image[i] = number(numbers, false);
}

void wgmma_inputs_make(struct both_case *c, int n, enum wgmma_numbers numbers)
{
    unsigned char *in = both_allocate(LAYOUTS * block_bytes(n));

    bf16 = c->what == WGMMA_OF_BF16;
    memset(in, 0, LAYOUTS * block_bytes(n));
    for (int i = 0; i < LAYOUTS; i++)
        fill(in + (size_t)i * block_bytes(n), n, numbers, &layouts[i]);
    c->blocks = LAYOUTS;
    c->threads = WGMMA_THREADS;
    c->shared_bytes = 1024 + image_bytes(n);
    c->in = in;
    c->in_bytes = LAYOUTS * block_bytes(n);
    c->out_bytes = LAYOUTS * d_bytes(n);
    c->count = (int)image_bytes(n);
}

void *wgmma_inputs_magnitudes(const struct both_case *c, int n)
{
    unsigned char *in = memcpy(both_allocate(c->in_bytes), c->in, c->in_bytes);

    for (unsigned i = 0; i < c->blocks; i++) {
        unsigned char *block = in + i * block_bytes(n);
        struct wgmma_operands *operands = (void *)block;
        uint32_t *a = &operands->a[0][0][0], *d = (void *)(operands + 1);
        uint32_t *image = d + WGMMA_THREADS * n / 2;

        for (int j = 0; j < WGMMA_PRODUCTS * WGMMA_THREADS * 4; j++)
            a[j] &= 0x7fff7fff;
        for (int j = 0; j < WGMMA_THREADS * n / 2; j++)
            d[j] &= 0x7fffffff;
        for (int j = 0; j < c->count / 4; j++)
            image[j] &= 0x7fff7fff;
    }
    return in;
}
