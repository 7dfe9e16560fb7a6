/* SPDX-License-Identifier: MIT */
/* PTX ISA 9.7.15.5.1.2 and 9.7.16.4: eight rows at a time are a core matrix,
 * or with a swizzle a pattern that begins where address bits say so. */
#include "operand.h"
#include "machine.h"
#include "shared.h"
#include "swizzle.h"

namespace emu {

namespace {

void check_layout(const operand &operand, int rows, const char *what)
{
    unsigned long long descriptor = operand.descriptor;
    uint32_t span = operand.span;

    if (operand.base_offset || (span && operand.start % (8 * span) >= span))
        fail("misaligned",
             "%s: descriptor 0x%llx: its rows do not begin at a multiple of "
             "the swizzle's %u bytes",
             what, descriptor, 8 * span);
    if (span && operand.start % span + 32 > span)
        fail("bad-descriptor", "%s: 0x%llx: 32 bytes run out of a row", what,
             descriptor);
    if (rows > 8 && !operand.stride)
        fail("bad-descriptor", "%s: 0x%llx: a stride of 0", what, descriptor);
    if (rows > 8 && span && operand.stride % (8 * span))
        fail("misaligned",
             "%s: descriptor 0x%llx: a stride of %u bytes, no multiple of "
             "the swizzle's %u",
             what, descriptor, operand.stride, 8 * span);
}

} // namespace

std::vector<uint32_t> operand_units(const operand &operand, int rows,
                                    const char *what)
{
    uint32_t span = operand.span;
    std::vector<uint32_t> units;

    check_layout(operand, rows, what);
    for (int row = 0; row < rows; row++)
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t in_group = static_cast<uint32_t>(row) % 8;
            uint32_t group = static_cast<uint32_t>(row) / 8;
            uint32_t address = operand.start + group * operand.stride;

            address += span ? in_group * span + k * 16
                            : in_group * 16 + k * operand.leading;
            address = swizzle(address, span);
            shared_check(address, shared_unit, shared_unit, what);
            units.push_back(address);
        }
    return units;
}

} // namespace emu
