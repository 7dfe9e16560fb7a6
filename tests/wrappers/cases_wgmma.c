/* SPDX-License-Identifier: MIT */
/* Matrix products of every width: layouts of B and kinds of numbers.
 *
 * Where all sums are exact, bits must agree. Elsewhere the emulator rounds
 * the exact sum of the accumulator and 16 products toward zero, and the
 * hardware does not: Hopper is known (Khattak and Mikaitis, arXiv 2512.07004)
 * to align the 17 addends to the largest, to keep 2 bits below the last of an
 * f32 there, and to cut off the rest of each and then of the sum. So a product
 * may differ by 17 / 4 + 1 units of 2^-23 of the largest magnitude, less than
 * `bound` times the sum of all magnitudes. Sums that need no more than those
 * 2 bits must agree again, rounded the same way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "cases.h"
#include "wgmma_inputs.h"

static const double bound = 6 * 0x1p-23; /* a product of magnitudes */

struct difference {
    double worst; /* of the sum of magnitudes, in units of 2^-23 */
    long long unequal, values, printed;
};

static void compare_bits(const struct both_case *c, const uint32_t *gpu,
                         const uint32_t *emu, struct difference *difference)
{
    size_t count = c->out_bytes / 4, block = count / c->blocks;

    for (size_t i = 0; i < count; i++)
        if (gpu[i] != emu[i])
            both_failure(&difference->printed,
                         "%s: block %zu, thread %zu, accumulator %zu: GPU "
                         "%08x, emulator %08x",
                         c->name, i / block, i % block / (block / 128),
                         i % (block / 128), gpu[i], emu[i]);
}

/* `magnitudes` is the same product of absolute values. */
static void compare_values(const struct both_case *c, const float *gpu,
                           const float *emu, const float *magnitudes,
                           struct difference *difference)
{
    size_t count = c->out_bytes / 4, block = count / c->blocks;

    for (size_t i = 0; i < count; i++) {
        double magnitude = (double)magnitudes[i];
        double apart = fabs((double)gpu[i] - (double)emu[i]);

        difference->unequal += gpu[i] != emu[i];
        if (apart > difference->worst * magnitude * 0x1p-23)
            difference->worst = apart / magnitude * 0x1p23;
        if (!(apart <= bound * wgmma_inputs_products * magnitude))
            both_failure(&difference->printed,
                         "%s: block %zu, thread %zu, accumulator %zu: GPU %a, "
                         "emulator %a, sum of magnitudes %a",
                         c->name, i / block, i % block / (block / 128),
                         i % (block / 128), (double)gpu[i], (double)emu[i],
                         magnitude);
    }
}

static void compare(int n, int type, enum wgmma_numbers numbers,
                    const char *what)
{
    char name[100], program[16];
    struct both_case c = {.name = name, .program = program, .what = type};
    struct difference difference = {0};
    void *gpu, *magnitudes = NULL;

    snprintf(name, sizeof name, "wgmma_mma_async%s, n = %d, %s",
             type == WGMMA_OF_BF16 ? "_bf16" : "", n, what);
    snprintf(program, sizeof program, "wgmma_%d", n);
    wgmma_inputs_make(&c, n, numbers);
    gpu = both_gpu(&c);
    if (numbers >= WGMMA_INEXACT) {
        struct both_case absolute = c;

        absolute.in = wgmma_inputs_magnitudes(&c, n);
        magnitudes = both_emulate(&absolute, 0);
        free((void *)(uintptr_t)absolute.in);
    }
    for (int seed = 0; seed < both_seeds; seed++) {
        void *emu = both_emulate(&c, (uint64_t)seed);

        difference.values += (long long)(c.out_bytes / 4);
        if (emu && magnitudes)
            compare_values(&c, gpu, emu, magnitudes, &difference);
        else if (emu)
            compare_bits(&c, gpu, emu, &difference);
        free(emu);
    }
    both_tally->checks += difference.values;
    printf("%s: %zu values", name, c.out_bytes / 4);
    if (magnitudes)
        printf(", %.3f %% of other bits, at most %.3f x 2^-23 of the sum of "
               "magnitudes apart, of %g allowed",
               100 * (double)difference.unequal / (double)difference.values,
               difference.worst, bound * 0x1p23 * wgmma_inputs_products);
    putchar('\n');
    fflush(stdout);
    free(magnitudes);
    free(gpu);
    free((void *)(uintptr_t)c.in);
}

static void all_widths(bool small, int type)
{
    static const int widths[] = {8,  16,  32,  48,  64,  80, 96,
                                 112, 128, 160, 192, 224, 256};
    enum { WIDTHS = sizeof widths / sizeof *widths };
    static const struct {
        enum wgmma_numbers numbers;
        const char *text;
    } kinds[] = {
        {WGMMA_INTEGERS, "integers"},
        {WGMMA_SUBNORMAL, "subnormal operands"},
        {WGMMA_SPECIAL, "infinities and NaNs"},
        {WGMMA_KEPT, "products of zero"},
        {WGMMA_ZEROS, "signs of zeros"},
        {WGMMA_TRUNCATED, "truncated sums"},
        {WGMMA_NVFP4, "e2m1 x e4m3"},
        {WGMMA_UNIFORM, "-1 to 1"},
        {WGMMA_ALL, "numbers of any size"},
    };

    for (int i = 0; i < WIDTHS; i += small ? WIDTHS - 1 : 1)
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++)
            for (int k = 1; k <= WGMMA_PRODUCTS; k += WGMMA_PRODUCTS - 1) {
                char what[64];

                wgmma_inputs_products = k;
                snprintf(what, sizeof what, "%s, %d product%s",
                         kinds[j].text, k, k > 1 ? "s" : "");
                compare(widths[i], type, kinds[j].numbers, what);
            }
}

void cases_wgmma(bool small)
{
    all_widths(small, WGMMA_OF_F16);
}

void cases_wgmma_bf16(bool small)
{
    all_widths(small, WGMMA_OF_BF16);
}
