/* SPDX-License-Identifier: MIT */
/* Accumulators of unfinished matrix products: their values are kept here, and
 * the registers of the threads hold poison, until a wait covers them. */
#ifndef EMU_WGMMA_ACCUMULATOR_H
#define EMU_WGMMA_ACCUMULATOR_H

#include "machine.h"
#include "registers.h"

namespace emu {

struct accumulator {
    static constexpr unsigned warps = warpgroup_threads / warp_threads;

    int n;
    float *registers[warpgroup_threads]; /* null: the warp has not come */
    std::vector<float> value;            /* [row][column] */
    uint64_t last[warps]; /* products of the warp up to the last to use it */
    unsigned returned;    /* warps that have the values back: bits */

    /* Takes the lanes' operand 0, and gives it back. */
    void take(const warp &lanes, unsigned warp, register_arrays &arrays);
    void give_back(const warp &lanes, unsigned warp, register_arrays &arrays);

  private:
    float &element(unsigned thread, int i);
};

} // namespace emu

#endif
