/* SPDX-License-Identifier: MIT */
/* A pair's warps exchange nothing but the result: neither learns from the
 * other. */
#include "tcgen05_pair.h"
#include "cluster.h"
#include "machine.h"
#include "order.h"

namespace emu {

namespace {

int group; /* of the kernel; 0: not known yet */

struct meeting {
    thread *first; /* that came, or null */
    const char *what;
    uint64_t argument;
    unsigned *result; /* where the first wants it */
};
meeting meetings[cluster_most_blocks / 2];

meeting &own_meeting()
{
    return meetings[here->rank / 2];
}

} // namespace

void tcgen05_pairs_begin()
{
    group = 0;
    for (meeting &meeting : meetings)
        meeting = {};
}

void tcgen05_check_group(int ctas, const char *what)
{
    if (ctas == 2 && m->ranks % 2)
        fail("no-pair", "%s of a pair in a cluster of %u", what, m->ranks);
    if (group && group != ctas)
        fail("cta-group-mixed",
             "%s with cta_group::%d in a kernel with cta_group::%d", what,
             ctas, group);
    group = ctas;
}

void tcgen05_check_issuer(int ctas, const char *what)
{
    tcgen05_check_group(ctas, what);
    if (ctas == 1)
        return;
    if (here->rank % 2)
        fail("not-leader", "%s of a pair by block %u of the cluster", what,
             here->rank);
    cluster_check(here->rank + 1, what);
}

bool tcgen05_meet(const char *what, uint64_t argument, unsigned *result)
{
    meeting &meeting = own_meeting();

    cluster_check(here->rank ^ 1, what);
    if (meeting.first && meeting.first->at.rank == here->rank)
        fail("no-pair", "%s of a pair by two warps of block %u", what,
             here->rank);
    if (meeting.first) {
        check_equal({what, argument, 0, 0},
                    {meeting.what, meeting.argument, 0, 0});
        return true;
    }
    meeting = {m->current, what, argument, result};
    block(std::string("the other block at ") + what);
    return false;
}

void tcgen05_part(unsigned result)
{
    meeting &meeting = own_meeting();

    m->idle = 0;
    *meeting.result = result;
    wake(meeting.first);
    meeting.first = nullptr;
}

} // namespace emu
