/* SPDX-License-Identifier: MIT */
/* Arrays of registers that matrix products use, as they last were when the
 * warp fenced: what differs later was written without a fence. An array is an
 * address a lane; the emulator learns it at its first use. */
#ifndef EMU_REGISTERS_H
#define EMU_REGISTERS_H

#include "machine.h"

namespace emu {

struct register_arrays {
    void fence(const warp &warp);
    /* The emulator itself wrote the array at that address of lane 0. */
    void wrote(const warp &warp, const void *first);

    /* Fails unless the warp fenced after its last write to operand[which] of
     * its lanes, `words` long. */
    void check(const warp &warp, int which, int words, const char *what);

  private:
    struct array {
        const void *address[warp_threads];
        std::vector<uint32_t> words; /* [lane][words] */
    };
    void look(const warp &warp, array &known);

    std::vector<array> arrays;
    bool fenced = false;
};

} // namespace emu

#endif
