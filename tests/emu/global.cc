/* SPDX-License-Identifier: MIT */
/* The launch knows whose memory is whose. */
#include "global.h"
#include "machine.h"

namespace emu {

void check_global(const void *address, size_t bytes, bool write,
                  const char *what)
{
    const char *does = write ? "writes" : "reads";
    int allowed =
        m->launch->check ? m->launch->check(address, bytes, write) : 1;

    if (allowed < 0)
        fail("missing-launch-wait",
             "%s %s %zu bytes at %p, which an earlier launch may still be "
             "%s: no griddepcontrol.wait",
             what, does, bytes, address, write ? "using" : "writing");
    if (!allowed)
        fail("global-out-of-bounds", "%s %s %zu bytes at %p", what, does,
             bytes, address);
    if (m->launch->touch)
        m->launch->touch(address, bytes, write, !m->cluster_waited);
}

} // namespace emu
