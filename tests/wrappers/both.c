/* SPDX-License-Identifier: MIT */
/* Outputs of the two sides, compared word by word. */
#include "both.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int both_seeds = 2;

static struct both_tally own_tally;
struct both_tally *both_tally = &own_tally;

void both_failure(long long *printed, const char *format, ...)
{
    enum { MOST = 8 };
    va_list values;

    both_tally->failures++;
    if ((*printed)++ == MOST)
        printf("  and others\n");
    if (*printed > MOST)
        return;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    putchar('\n');
    fflush(stdout);
}

void *both_allocate(size_t bytes)
{
    void *memory = aligned_alloc(256, (bytes / 256 + 1) * 256);

    if (!memory)
        exit(99);
    return memory;
}

void *both_fresh_out(const struct both_case *c)
{
    return memset(both_allocate(c->out_bytes), 0xee, c->out_bytes);
}

/* Inputs of an output word are told where a word has a block of its own. */
static void compare_words(const struct both_case *c, const uint32_t *gpu,
                          const uint32_t *emu, uint64_t seed)
{
    size_t words = c->out_bytes / 4, block = words / c->blocks;
    const uint32_t *in = c->in;
    long long printed = 0;

    both_tally->checks += (long long)words;
    for (size_t i = 0; i < words; i++) {
        if (gpu[i] == emu[i])
            continue;
        if (c->in_bytes == 8 * words)
            both_failure(&printed,
                         "%s: of %08" PRIx32 " %08" PRIx32 ": GPU %08" PRIx32
                         ", emulator %08" PRIx32,
                         c->name, in[2 * i], in[2 * i + 1], gpu[i], emu[i]);
        else
            both_failure(&printed,
                         "%s: block %zu, word %zu of %zu: GPU %08" PRIx32
                         ", emulator, seed %" PRIu64 ": %08" PRIx32,
                         c->name, i / block, i % block, block, gpu[i], seed,
                         emu[i]);
    }
    if (printed)
        printf("%s: %lld of %zu words differ\n", c->name, printed, words);
}

void both_compare(const struct both_case *c)
{
    uint32_t *gpu = both_gpu(c);

    for (int seed = 0; seed < both_seeds; seed++) {
        uint32_t *emu = both_emulate(c, (uint64_t)seed);

        if (emu)
            compare_words(c, gpu, emu, (uint64_t)seed);
        free(emu);
    }
    printf("%s: %zu words\n", c->name, c->out_bytes / 4);
    fflush(stdout);
    free(gpu);
}
