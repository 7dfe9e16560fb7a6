/* SPDX-License-Identifier: MIT */
/* Scripts for barriers: some threads arrive, or none, some copy bytes, until
 * the phase ends and the next one begins. */
#include <string.h>

#include "both.h"
#include "cases.h"
#include "reference.h"

enum { SCRIPTS = 64, MOST_BYTES = 496, SOURCE = 64 << 10 };

static struct {
    struct barrier_script scripts[SCRIPTS];
    _Alignas(256) uint8_t source[SOURCE];
} input;
static uint64_t seed = 41;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)((ref_random(&seed) >> 32) * limit >> 32);
}

struct phase {
    uint32_t number, pending;
};

static void make_step(struct barrier_step *step, struct phase *phase,
                      uint32_t count, bool last, uint32_t number)
{
    uint32_t most =
        phase->pending < BARRIER_THREADS ? phase->pending : BARRIER_THREADS;

    if (last)
        step->arrivals = most;
    else if (below(3))
        step->arrivals = below(4) ? below(most + 1) : most;
    step->first = below(BARRIER_THREADS - step->arrivals + 1);
    if (step->arrivals && below(2))
        step->bytes = 16 * (1 + below(MOST_BYTES / 16));
    step->early = below(2);
    step->source = (uint32_t)offsetof(__typeof__(input), source) +
                   16 * below((SOURCE - MOST_BYTES) / 16);
    step->destination = number * (BARRIER_DATA / BARRIER_STEPS);
    step->parity = phase->number & 1;
    step->observer = below(BARRIER_THREADS);
    phase->pending -= step->arrivals;
    step->ends = !phase->pending;
    if (step->ends) {
        phase->number++;
        phase->pending = count;
    }
}

void cases_barrier(bool small)
{
    struct both_case c = {
        .name = "mbarrier_init, _arrive, _arrive_expect_tx, _try_wait",
        .program = "barrier",
        .blocks = small ? 16 : SCRIPTS,
        .threads = BARRIER_THREADS,
        .shared_bytes = 128 + BARRIER_DATA,
        .in = &input,
        .in_bytes = sizeof input,
        .count = BARRIER_STEPS * 4 + BARRIER_DATA,
    };

    for (size_t i = 0; i < SOURCE; i++)
        input.source[i] = (uint8_t)ref_random(&seed);
    for (int i = 0; i < SCRIPTS; i++) {
        struct barrier_script *script = &input.scripts[i];
        struct phase phase = {0, 0};

        script->count = 1 + below(i % 2 ? 4 : BARRIER_THREADS);
        phase.pending = script->count;
        for (uint32_t j = 0; j < BARRIER_STEPS; j++)
            make_step(&script->steps[j], &phase, script->count,
                      j == BARRIER_STEPS - 1, j);
    }
    c.out_bytes = c.blocks * (size_t)c.count;
    both_compare(&c);
}
