/* SPDX-License-Identifier: MIT */
/* The lanes of a warp use one array at equal places of their stacks, so lane
 * 0's address finds it. */
#include "registers.h"

#include <string.h>

namespace emu {

namespace {

size_t lane_bytes(size_t words)
{
    return words / warp_threads * sizeof(uint32_t);
}

} // namespace

/* An array that has gone out of scope still lies on the lane's stack. */
void register_arrays::look(const warp &warp, array &known)
{
    size_t bytes = lane_bytes(known.words.size());
    char *to = reinterpret_cast<char *>(known.words.data());

    for (unsigned i = 0; i < warp.lanes; i++)
        memcpy(to + i * bytes, known.address[i], bytes);
}

void register_arrays::fence(const warp &warp)
{
    fenced = true;
    for (array &known : arrays)
        look(warp, known);
}

void register_arrays::wrote(const warp &warp, const void *first)
{
    for (array &known : arrays)
        if (known.address[0] == first)
            look(warp, known);
}

void register_arrays::check(const warp &warp, int which, int words,
                            const char *what)
{
    size_t bytes = static_cast<size_t>(words) * sizeof(uint32_t);

    if (!fenced)
        fail("wgmma-no-fence", "%s: no wgmma.fence before it", what);
    for (array &known : arrays) {
        const char *from = reinterpret_cast<const char *>(known.words.data());
        bool same = lane_bytes(known.words.size()) == bytes;

        for (unsigned i = 0; i < warp.lanes && same; i++)
            same = known.address[i] == lane(warp, i).operand[which];
        if (!same)
            continue;
        for (unsigned i = 0; i < warp.lanes; i++)
            if (memcmp(from + i * bytes, known.address[i], bytes))
                fail("wgmma-no-fence",
                     "%s: a register of thread %u was written after the last "
                     "wgmma.fence",
                     what, warp.first + i);
        return;
    }
    array made;
    made.words.resize(static_cast<size_t>(words) * warp_threads);
    for (unsigned i = 0; i < warp.lanes; i++) {
        made.address[i] = lane(warp, i).operand[which];
        memcpy(reinterpret_cast<char *>(made.words.data()) + i * bytes,
               made.address[i], bytes);
    }
    arrays.push_back(std::move(made));
}

} // namespace emu
