/* SPDX-License-Identifier: MIT */
/* PTX ISA 9.7.15.5.1.1: which thread holds which elements of D. */
#include "wgmma_accumulator.h"
#include "half.h"
#include "instructions.h"

namespace emu {

/* Register i of a thread: warp w has rows 16 w and up; lane 4 g + c has rows
 * g and g + 8 of them, columns 2c and 2c + 1 of each 8. */
float &accumulator::element(unsigned thread, int i)
{
    int lane = static_cast<int>(thread % warp_threads);
    int row = static_cast<int>(thread / warp_threads) * 16 + lane / 4 +
              i / 2 % 2 * 8;
    int column = i / 4 * 8 + lane % 4 * 2 + i % 2;

    return value[static_cast<size_t>(row * n + column)];
}

void accumulator::take(const warp &lanes, unsigned warp,
                       register_arrays &arrays)
{
    arrays.check(lanes, 0, n / 2, "accumulators of wgmma");
    for (unsigned i = 0; i < warp_threads; i++) {
        unsigned thread = warp * warp_threads + i;
        float *from = static_cast<float *>(
            const_cast<void *>(lane(lanes, i).operand[0]));

        registers[thread] = from;
        for (int j = 0; j < n / 2; j++) {
            element(thread, j) = from[j];
            from[j] = float_of_bits(register_poison);
        }
    }
}

void accumulator::give_back(const warp &lanes, unsigned warp,
                            register_arrays &arrays)
{
    for (unsigned i = 0; i < warp_threads; i++) {
        unsigned thread = warp * warp_threads + i;
        float *to = registers[thread];

        for (int j = 0; j < n / 2; j++) {
            if (bits_of_float(to[j]) != register_poison)
                fail("accumulator-changed",
                     "thread %u wrote accumulator %d of an unfinished wgmma",
                     lanes.first + i, j);
            to[j] = element(thread, j);
        }
    }
    returned |= 1u << warp;
    arrays.wrote(lanes, registers[warp * warp_threads]);
}

float checked_register(float value)
{
    if ((bits_of_float(value) & 0x7fffffff) == register_poison)
        fail("missing-wait",
             "a register was used before a wait that covers the instruction "
             "that writes it");
    return value;
}

} // namespace emu
