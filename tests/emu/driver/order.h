/* SPDX-License-Identifier: MIT */
/* Whether work on the same bytes is ordered: by a stream, an event, or a host
 * that waited before it enqueued. What is not works by luck on a GPU. */
#ifndef EMU_DRIVER_ORDER_H
#define EMU_DRIVER_ORDER_H

#include "objects.h"

namespace emu_driver {

/* The number-th operation of a stream. */
struct stamp {
    CUstream stream;
    uint64_t number;
};

/* Once it has run. An error if a copy or a fill and something else that is not
 * ordered with it used the same byte, and one wrote it. Kernels may do so with
 * each other: runs of one plan write equal bytes. */
CUresult check_order(stamp stamp, const operation &done);

/* What any thread of the host has waited for. */
const moment &host_knows();
void host_learns(const moment &when);

} // namespace emu_driver

#endif
