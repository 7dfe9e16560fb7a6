/* SPDX-License-Identifier: MIT */
/* The swizzles of shared memory that copies and matrix products share. */
#ifndef EMU_SWIZZLE_H
#define EMU_SWIZZLE_H

#include <stdint.h>

namespace emu {

/* A swizzle of `span` bytes (32, 64, 128; 0: none) exchanges the 16-byte
 * units of a span: their number is xored with the address's bits from 7 up,
 * as many as number the units. */
inline uint32_t swizzle(uint32_t address, uint32_t span)
{
    uint32_t units = span / 16;

    return units ? address ^ ((address >> 7 & (units - 1)) << 4) : address;
}

} // namespace emu

#endif
