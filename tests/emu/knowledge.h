/* SPDX-License-Identifier: MIT */
/* What a thread may rely on: for each fact a number that only grows. A fact
 * is a thread (what it released), or what new_fact() of machine.h numbers: a
 * warpgroup (its finished products), a barrier (1 + its completed phases), a
 * block of a cluster (it has begun), a thread's work on tensor memory
 * (tensor_knowledge.h), its copies and its edits of tensor maps (map_edits.h).
 * Threads that synchronize share what they know, so a missing wait shows even
 * where the schedule happened to be kind. */
#ifndef EMU_KNOWLEDGE_H
#define EMU_KNOWLEDGE_H

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

namespace emu {

inline unsigned thread_fact(unsigned thread)
{
    return thread;
}

struct knowledge {
    std::vector<uint32_t> values;

    uint32_t of(unsigned fact) const
    {
        return fact < values.size() ? values[fact] : 0;
    }
    void learn(unsigned fact, uint32_t value)
    {
        if (fact >= values.size())
            values.resize(fact + 1);
        if (values[fact] < value)
            values[fact] = value;
    }
    void join(const knowledge &other)
    {
        if (values.size() < other.values.size())
            values.resize(other.values.size());
        const uint32_t *from = other.values.data();
        uint32_t *to = values.data();
        for (size_t i = 0; i < other.values.size(); i++)
            to[i] = std::max(to[i], from[i]);
    }
};

/* "The fact will have that value": when an access is over. */
struct moment {
    unsigned fact;
    uint32_t value; /* 0: since ever */

    bool known(const knowledge &knowledge) const
    {
        return knowledge.of(fact) >= value;
    }
};

} // namespace emu

#endif
