/* SPDX-License-Identifier: MIT */
/* Kernels, as handles mean them. */
#ifndef EMU_LIBRARY_H
#define EMU_LIBRARY_H

#include "../emu_launch.h"
#include "cubin.h"

#include <cuda.h>

namespace emu_driver {

struct kernel {
    cubin from;
    int (*run)(const emu_launch *);
    unsigned most_shared = 48 << 10; /* bytes a block may have */
};

/* NULL, after saying so, if the handle is none of a loaded kernel. */
kernel *find_kernel(const void *handle);

} // namespace emu_driver

#endif
