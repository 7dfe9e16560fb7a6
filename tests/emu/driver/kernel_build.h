/* SPDX-License-Identifier: MIT */
/* From a cubin to the same kernel compiled for the host. */
#ifndef EMU_DRIVER_KERNEL_BUILD_H
#define EMU_DRIVER_KERNEL_BUILD_H

#include "../compile.h"
#include "cubin.h"

namespace emu_driver {

/* Null, after the compiler's complaints, if it does not compile. */
emu_test::run_function build_kernel(const cubin &from);

} // namespace emu_driver

#endif
