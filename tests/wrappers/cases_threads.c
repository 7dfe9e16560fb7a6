/* SPDX-License-Identifier: MIT */
/* Shared memory, named barriers, shares of registers, dependent launches. */
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "cases.h"
#include "reference.h"

static uint32_t below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)((ref_random(seed) >> 32) * limit >> 32);
}

static void random_words(uint32_t *words, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)ref_random(&seed);
}

/* From one byte to all that a block can have. */
static void all_bytes(void)
{
    static const unsigned sizes[] = {4, 1024, 48 << 10, 100 << 10, 227 << 10};
    static uint32_t in[(227 << 10) / 4];

    random_words(in, sizeof in / 4, 21);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct both_case c = {
            .name = "dynamic_smem, shared_address",
            .program = "memory",
            .blocks = 1,
            .threads = 256,
            .shared_bytes = sizes[i],
            .in = in,
            .in_bytes = sizes[i],
            .out_bytes = sizes[i] + 256 * 4,
            .count = (int)sizes[i],
            .what = MEMORY_BYTES,
        };

        both_compare(&c);
    }
}

/* Rows anywhere in a kilobyte, no two the same. */
static void place_lanes(struct stmatrix_lane *lanes, uint64_t *seed)
{
    unsigned units[64];

    for (unsigned i = 0; i < 64; i++)
        units[i] = 16 * i;
    for (unsigned i = 0; i < 32; i++) {
        unsigned other = i + below(seed, 64 - i), unit = units[other];

        units[other] = units[i];
        lanes[i].first = (uint32_t)ref_random(seed);
        lanes[i].second = (uint32_t)ref_random(seed);
        lanes[i].place = unit;
    }
}

void cases_memory(bool small)
{
    enum { BLOCKS = 64, THREADS = 128 };
    static struct stmatrix_lane lanes[BLOCKS * THREADS];
    struct both_case c = {
        .name = "stmatrix_x2_trans",
        .program = "memory",
        .blocks = small ? 8 : BLOCKS,
        .threads = THREADS,
        .shared_bytes = THREADS / 32 * 1024,
        .in = lanes,
        .in_bytes = sizeof lanes,
        .what = MEMORY_STMATRIX,
    };
    uint64_t seed = 22;

    for (int i = 0; i < BLOCKS * THREADS; i += 32)
        place_lanes(&lanes[i], &seed);
    c.out_bytes = c.blocks * c.shared_bytes;
    all_bytes();
    both_compare(&c);
}

/* Barriers 1 to 15, each pair of two groups of warps. */
void cases_sync(bool small)
{
    enum { BLOCKS = 16 };
    static struct sync_round rounds[BLOCKS][SYNC_ROUNDS];
    struct both_case c = {
        .name = "bar_sync",
        .program = "sync",
        .blocks = small ? 2 : BLOCKS,
        .threads = SYNC_THREADS,
        .shared_bytes = SYNC_THREADS * 4,
        .in = rounds,
        .in_bytes = sizeof rounds,
    };
    uint64_t seed = 23;

    for (unsigned i = 0; i < BLOCKS; i++)
        for (unsigned j = 0; j < SYNC_ROUNDS; j++) {
            struct sync_round *round = &rounds[i][j];

            round->low = 1 + (i + j) % 15;
            round->high = 1 + (i + j + 1 + below(&seed, 14)) % 15;
            round->warps = 1 + below(&seed, SYNC_THREADS / 32);
            for (int k = 0; k < SYNC_THREADS / 32; k++)
                round->delay[k] =
                    below(&seed, 3) ? 0 : below(&seed, small ? 50 : 5000);
        }
    c.out_bytes = c.blocks * SYNC_ROUNDS * SYNC_THREADS * 4;
    both_compare(&c);
}

void cases_registers(bool small)
{
    enum { BLOCKS = 264, THREADS = 384, WORDS = 512 + BLOCKS };
    static uint32_t in[WORDS];
    struct both_case c = {
        .name = "setmaxnreg_dec, setmaxnreg_inc",
        .program = "registers",
        .blocks = small ? 2 : BLOCKS,
        .threads = THREADS,
        .in = in,
        .in_bytes = sizeof in,
    };

    random_words(in, WORDS, 24);
    c.out_bytes = c.blocks * THREADS * 4;
    both_compare(&c);
}

/* Too few blocks to fill the GPU, so that the second launch starts while the
 * first is at work. */
void cases_dependent(bool small)
{
    enum { BLOCKS = 32, THREADS = 64 };
    static uint32_t in[BLOCKS * THREADS];
    struct both_case c = {
        .name = "griddepcontrol_wait, griddepcontrol_launch_dependents",
        .program = "second",
        .before = "first",
        .blocks = BLOCKS,
        .threads = THREADS,
        .in = in,
        .in_bytes = sizeof in,
        .out_bytes = 2 * sizeof in,
        .count = small ? 100 : 20000,
    };

    for (uint64_t i = 0; i < (small ? 1 : 10); i++) {
        random_words(in, BLOCKS * THREADS, 25 + i);
        both_compare(&c);
    }
}
