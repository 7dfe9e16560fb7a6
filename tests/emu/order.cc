/* SPDX-License-Identifier: MIT */
/* The message where arguments differ. */
#include "order.h"
#include "machine.h"

#include <string.h>

namespace emu {

void check_equal(const instruction &came, const instruction &there)
{
    if (strcmp(came.name, there.name) || came.x != there.x ||
        came.y != there.y)
        fail("unequal-arguments",
             "%s with 0x%llx, 0x%llx, where other warps or lanes have %s "
             "with 0x%llx, 0x%llx",
             came.name, static_cast<unsigned long long>(came.x),
             static_cast<unsigned long long>(came.y), there.name,
             static_cast<unsigned long long>(there.x),
             static_cast<unsigned long long>(there.y));
}

} // namespace emu
