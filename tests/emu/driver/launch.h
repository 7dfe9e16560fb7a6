/* SPDX-License-Identifier: MIT */
/* A kernel with all that it was launched with, and running it. */
#ifndef EMU_DRIVER_LAUNCH_H
#define EMU_DRIVER_LAUNCH_H

#include "objects.h"

namespace emu_driver {

struct launch {
    CUlibrary library;
    unsigned grid[3], block[3], cluster[3];
    size_t shared_bytes;
    bool overlap; /* may start before what is before it has ended */
    /* A copy, aligned as strictly as a parameter can be. */
    struct alignas(128) parameter {
        unsigned char bytes[128];
    };
    std::vector<parameter> parameter;
};

/* The error that the context will have, said on standard error; and, in the
 * operation, what the kernel used of device memory, and whether it waited. */
CUresult run_launch(operation *todo);

/* The second may start before the first has ended, and does so. */
bool can_overlap(const launch &first, const launch &second);
CUresult run_overlapped(operation *first, operation *second);

} // namespace emu_driver

#endif
