/* SPDX-License-Identifier: MIT */
/* Nothing of this costs anything where a cluster is one block. */
#include "cluster.h"
#include "instructions.h"
#include "machine.h"
#include "shared.h"

namespace emu {

namespace {

struct part {
    unsigned live;   /* threads that have not ended */
    unsigned begun;  /* a fact that its threads know */
    knowledge ended; /* what those knew that have */
    knowledge uses;  /* that must be among it at the end */
};

struct member { /* a thread: its arrivals at the barrier and its waits */
    uint64_t arrivals = 0, waits = 0;
};

std::vector<part> parts; /* by rank */
std::vector<member> members;

struct {
    uint64_t phase;   /* how many have completed */
    unsigned pending; /* threads that have neither arrived nor ended */
    unsigned live;
    knowledge gathered, released;
    std::vector<thread *> waiting;
} meeting; /* the cluster's barrier */

member &self()
{
    return members[m->current->number];
}

void try_complete()
{
    if (meeting.pending)
        return;
    m->idle = 0;
    meeting.phase++;
    meeting.pending = meeting.live;
    meeting.released.join(meeting.gathered);
    for (thread *thread : meeting.waiting)
        wake(thread);
    meeting.waiting.clear();
}

void check_uses_known(unsigned rank)
{
    const part &part = parts[rank];

    for (unsigned fact = 0; fact < part.uses.values.size(); fact++)
        if (part.ended.of(fact) < part.uses.of(fact))
            fail("peer-exited",
                 "block %u of the cluster ends; none of its threads knows "
                 "that what another block does in its shared memory is over",
                 rank);
}

} // namespace

void cluster_begin()
{
    parts.clear();
    members.clear();
    members.resize(m->threads_count);
    meeting = {};
    meeting.pending = meeting.live = m->threads_count;
    for (unsigned i = 0; i < m->threads_count; i += m->block_threads)
        parts.push_back({m->block_threads, new_fact(), {}, {}});
    for (size_t i = 0; m->ranks > 1 && i < m->threads.size(); i++)
        m->threads[i]->knows.learn(parts[m->threads[i]->at.rank].begun, 1);
}

void cluster_thread_ended()
{
    unsigned rank = here->rank;
    part &part = parts[rank];

    if (parts.size() > 1)
        part.ended.join(m->current->knows);
    if (--part.live == 0)
        check_uses_known(rank);
    meeting.live--;
    if (self().arrivals == meeting.phase) {
        meeting.pending--;
        try_complete();
    }
}

bool cluster_has_ended(unsigned rank)
{
    return !parts[rank].live;
}

void cluster_check(unsigned rank, const char *what)
{
    if (rank == here->rank)
        return;
    if (!m->current->knows.of(parts[rank].begun))
        fail("peer-not-started",
             "%s in block %u of the cluster; the thread does not know that "
             "the block has begun",
             what, rank);
    if (cluster_has_ended(rank))
        fail("peer-exited", "%s in block %u of the cluster, which has ended",
             what, rank);
}

void cluster_use(unsigned rank, moment end)
{
    if (rank != here->rank)
        parts[rank].uses.learn(end.fact, end.value);
}

void cluster_use(unsigned rank)
{
    cluster_use(rank, {thread_fact(m->current->number), m->current->clock});
}

std::vector<unsigned> cluster_ranks(int blocks, const char *what)
{
    std::vector<unsigned> ranks;

    if (blocks == own_block)
        return {here->rank};
    if (!blocks || blocks >> parts.size())
        fail("bad-multicast", "%s to blocks 0x%x of a cluster of %zu", what,
             static_cast<unsigned>(blocks), parts.size());
    for (unsigned rank = 0; rank < parts.size(); rank++)
        if (blocks >> rank & 1)
            ranks.push_back(rank);
    return ranks;
}

/* Twice in a phase is not defined; here an arrival must be waited for, too. */
void barrier_cluster_arrive()
{
    if (self().arrivals++ != self().waits)
        fail("cluster-barrier-misuse",
             "barrier.cluster.arrive, twice without a wait");
    release(meeting.gathered);
    meeting.pending--;
    try_complete();
    maybe_yield();
}

void barrier_cluster_wait()
{
    if (++self().waits != self().arrivals)
        fail("cluster-barrier-misuse",
             "barrier.cluster.wait without an arrival");
    while (meeting.phase < self().waits) {
        meeting.waiting.push_back(m->current);
        block("barrier.cluster.wait");
    }
    m->current->knows.join(meeting.released);
    maybe_yield();
}

void *mapa(void *pointer, unsigned rank)
{
    uint32_t own = shared_address(pointer);

    if (rank >= parts.size())
        fail("bad-operand", "mapa to block %u of a cluster of %zu", rank,
             parts.size());
    return shared_at(shared_of_rank(own, rank));
}

} // namespace emu
