/* SPDX-License-Identifier: MIT */
/* Global memory, as the launch lets instructions of the emulator use it. */
#ifndef EMU_GLOBAL_H
#define EMU_GLOBAL_H

#include <stddef.h>

namespace emu {

/* Fails unless all the bytes may be used, `what` in the report. */
void check_global(const void *address, size_t bytes, bool write,
                  const char *what);

} // namespace emu

#endif
