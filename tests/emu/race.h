/* SPDX-License-Identifier: MIT */
/* Who last read and wrote each byte of shared memory, and whether who
 * comes next knows that this is over. */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include <stddef.h>
#include <stdint.h>

namespace emu {

/* Forgets all of a block's memory. */
void race_begin_block(uint32_t begin, uint32_t end);

/* Accesses by the current thread. */
void race_read(uint32_t address, size_t bytes);
void race_write(uint32_t address, size_t bytes);

/* Asynchronous ones that it issues. */
void race_async_read(uint32_t address, size_t bytes);
void race_async_write(uint32_t address, size_t bytes);

} // namespace emu

#endif
