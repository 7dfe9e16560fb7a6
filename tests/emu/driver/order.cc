/* SPDX-License-Identifier: MIT */
#include "order.h"
#include "call.h"
#include "queue.h"

#include <stdio.h>

namespace emu_driver {

namespace {

struct past {
    stamp when;
    const char *name;
    bool kernel;
    footprint uses;
};
std::deque<past> pasts; /* not over for all that waits */
constexpr size_t most_pasts = 256;
moment known;

bool is_in(const moment &when, const stamp &stamp)
{
    auto part = when.find(stamp.stream);

    return part != when.end() && part->second >= stamp.number;
}

bool all_is_after(const stamp &stamp)
{
    for (auto &object : objects<CUstream_st>())
        for (const operation &operation : object.first->waiting)
            if (!is_in(operation.after, stamp))
                return false;
    return true;
}

} // namespace

CUresult check_order(stamp stamp, const operation &done)
{
    for (const past &past : pasts) {
        if (is_in(done.after, past.when) || (past.kernel && done.kernel))
            continue;
        uintptr_t byte = past.uses.conflict(done.uses);
        if (!byte)
            continue;
        char text[160];
        snprintf(text, sizeof text,
                 "uses %p, and so does %s in another stream: nothing orders "
                 "the two",
                 reinterpret_cast<void *>(byte), past.name);
        return report(CUDA_ERROR_LAUNCH_FAILED, done.name, text);
    }
    pasts.push_back({stamp, done.name, done.kernel != nullptr, done.uses});
    if (pasts.size() > most_pasts)
        pasts.pop_front();
    return CUDA_SUCCESS;
}

const moment &host_knows()
{
    return known;
}

/* A past is over once all that waits comes after it, as all else will. */
void host_learns(const moment &when)
{
    std::deque<past> left;

    join(&known, when);
    for (past &past : pasts)
        if (!is_in(known, past.when) || !all_is_after(past.when))
            left.push_back(std::move(past));
    pasts = std::move(left);
}

} // namespace emu_driver
