/* SPDX-License-Identifier: MIT */
/* splitmix64: a launch replays from its seed alone. */
#ifndef EMU_RANDOM_H
#define EMU_RANDOM_H

#include <stddef.h>
#include <stdint.h>

namespace emu {

struct random_source {
    uint64_t state;

    uint64_t next()
    {
        uint64_t z = state += 0x9e3779b97f4a7c15;

        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    /* Below `limit`. */
    unsigned below(size_t limit)
    {
        return static_cast<unsigned>((next() >> 32) * limit >> 32);
    }
};

} // namespace emu

#endif
