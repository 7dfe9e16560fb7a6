/* SPDX-License-Identifier: MIT */
/* Device memory: each allocation ends at a page that nobody may touch, and
 * what was freed is never handed out again. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include <stddef.h>

namespace emu_driver {

/* Whether all of a range lies in one live allocation. */
bool is_allocated(const void *address, size_t bytes);


} // namespace emu_driver

#endif
