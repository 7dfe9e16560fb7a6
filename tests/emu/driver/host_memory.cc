/* SPDX-License-Identifier: MIT */
#include "host_memory.h"
#include "knobs.h"

#include <map>

#include <stdlib.h>
#include <string.h>

namespace emu_driver {

namespace {

std::map<const char *, size_t> all; /* bytes at an address */

}

void *host_allocate(size_t bytes)
{
    char *memory = static_cast<char *>(malloc(bytes));

    if (!memory)
        return nullptr;
    memset(memory, 0xff, bytes);
    all[memory] = bytes;
    emu_knobs.allocations++;
    return memory;
}

bool host_free(void *memory)
{
    if (!all.erase(static_cast<char *>(memory)))
        return false;
    free(memory);
    emu_knobs.allocations--;
    return true;
}

bool host_is_locked(const void *memory)
{
    const char *address = static_cast<const char *>(memory);
    auto next = all.upper_bound(address);

    return next != all.begin() && --next != all.end() &&
           address < next->first + next->second;
}

} // namespace emu_driver
