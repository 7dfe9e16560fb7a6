/* SPDX-License-Identifier: MIT */
#include "footprint.h"

#include <algorithm>

namespace emu_driver {

namespace {

using spans = std::vector<footprint::span>;

void join(spans &all)
{
    size_t kept = 0;

    std::sort(all.begin(), all.end(),
              [](const auto &x, const auto &y) { return x.begin < y.begin; });
    for (const auto &span : all) {
        if (kept && span.begin <= all[kept - 1].end)
            all[kept - 1].end = std::max(all[kept - 1].end, span.end);
        else
            all[kept++] = span;
    }
    all.resize(kept);
}

uintptr_t common(const spans &x, const spans &y)
{
    for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
        uintptr_t begin = std::max(x[i].begin, y[j].begin);

        if (begin < std::min(x[i].end, y[j].end))
            return begin;
        if (x[i].end < y[j].end)
            i++;
        else
            j++;
    }
    return 0;
}

} // namespace

void footprint::add(uintptr_t address, size_t bytes, bool write)
{
    auto &own = spans[write];
    uintptr_t end = address + bytes;

    if (!own.empty() && address >= own.back().begin &&
        address <= own.back().end) {
        own.back().end = std::max(own.back().end, end);
        return;
    }
    own.push_back({address, end});
    if (own.size() < most)
        return;
    join(own);
    most = std::max(most, 2 * own.size());
}

void footprint::settle()
{
    join(spans[false]);
    join(spans[true]);
}

uintptr_t footprint::conflict(const footprint &other) const
{
    if (uintptr_t both = common(spans[true], other.spans[true]))
        return both;
    if (uintptr_t read = common(spans[false], other.spans[true]))
        return read;
    return common(spans[true], other.spans[false]);
}

} // namespace emu_driver
