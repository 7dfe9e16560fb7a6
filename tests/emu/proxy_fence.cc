/* SPDX-License-Identifier: MIT */
/* In a file of its own: only a kernel that fences pulls this object out of
 * the archive, and so pays for the knowledge of who wrote what. */
#include "instructions.h"
#include "shared.h"

namespace emu {

namespace {

const bool linked = shared_track_writers();

} // namespace

void fence_proxy_async()
{
    if (linked)
        shared_fence();
}

} // namespace emu
