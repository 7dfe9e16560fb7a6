/* SPDX-License-Identifier: MIT */
/* Page-locked memory of the host: asynchronous copies use it when they run;
 * they take what is in any other memory with them. */
#ifndef EMU_DRIVER_HOST_MEMORY_H
#define EMU_DRIVER_HOST_MEMORY_H

#include <stddef.h>

namespace emu_driver {

void *host_allocate(size_t bytes);
bool host_free(void *memory); /* false if it is none */
bool host_is_locked(const void *memory);

} // namespace emu_driver

#endif
