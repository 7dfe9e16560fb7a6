/* SPDX-License-Identifier: MIT */
/* Warps that need not come to an instruction at one time, but must all come
 * to the same ones in the same order. */
#ifndef EMU_ORDER_H
#define EMU_ORDER_H

#include <stdint.h>

#include <deque>

namespace emu {

struct instruction {
    const char *name;
    uint64_t x, y;  /* its arguments */
    unsigned warps; /* that came: bits */
};

/* Fails unless the two are equal. */
void check_equal(const instruction &came, const instruction &there);

template <unsigned warps> struct warp_order {
    void come(unsigned warp, const char *name, uint64_t x, uint64_t y)
    {
        uint64_t number = count[warp]++ - before;

        if (number == open.size())
            open.push_back({name, x, y, 0});
        check_equal({name, x, y, 0}, open[number]);
        open[number].warps |= 1u << warp;
        while (!open.empty() && open[0].warps == (1u << warps) - 1) {
            open.pop_front();
            before++;
        }
    }

  private:
    std::deque<instruction> open; /* that some warp has not come to */
    uint64_t before = 0;
    uint64_t count[warps] = {};
};

} // namespace emu

#endif
