/* SPDX-License-Identifier: MIT */
/* Operands of matrix products in shared memory, k contiguous: where the rows
 * of a descriptor lie. What the bits of a descriptor mean is the product's. */
#ifndef EMU_OPERAND_H
#define EMU_OPERAND_H

#include <stdint.h>

#include <vector>

namespace emu {

/* `count` bits from bit `first`. */
inline uint32_t bits_of(uint64_t word, int first, int count)
{
    return static_cast<uint32_t>(word >> first & ((uint64_t(1) << count) - 1));
}

struct operand {
    uint64_t descriptor; /* for messages */
    uint32_t start;
    uint32_t leading; /* bytes from 16 of a row to the next 16, no swizzle */
    uint32_t stride;  /* bytes from 8 rows to the next 8 */
    uint32_t span;    /* of the swizzle: 0, 32, 64 or 128 bytes */
    uint32_t base_offset;
};

/* Addresses of the 16-byte units of `rows` rows of 32 bytes, two a row. */
std::vector<uint32_t> operand_units(const operand &operand, int rows,
                                    const char *what);

} // namespace emu

#endif
