/* SPDX-License-Identifier: MIT */
/* PTX ISA 9.7.13.15: counts, phases and who waits. */
#include "barrier.h"
#include "cluster.h"
#include "instructions.h"
#include "machine.h"
#include "shared.h"

#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <map>

namespace emu {

namespace {

constexpr uint32_t most_count = (1 << 20) - 1; /* of arrivals, of bytes */
constexpr uint64_t word_magic = 0xb1e55edba441e400;

std::map<uint32_t, barrier> barriers; /* of the cluster, by address */

uint64_t word_of(uint32_t address)
{
    return word_magic ^ address;
}

void check_count(const barrier &barrier)
{
    if (barrier.bytes < 0 && barrier.pending == 0)
        fail("wrong-byte-count", "more bytes landed than were expected: %s",
             barrier_text(barrier).c_str());
    if (barrier.bytes > most_count || barrier.bytes < -int64_t(most_count))
        fail("wrong-byte-count", "past what a barrier counts: %s",
             barrier_text(barrier).c_str());
}

/* A phase ends when all have arrived and all bytes have landed. */
void try_complete(barrier &barrier)
{
    check_count(barrier);
    if (barrier.pending || barrier.bytes)
        return;
    barrier.phase++;
    barrier.pending = barrier.count;
    barrier.released.join(barrier.gathered);
    for (uint32_t unit : barrier.landed)
        shared_write_end(unit);
    barrier.landed.clear();
    for (thread *thread : barrier.waiting)
        wake(thread);
    barrier.waiting.clear();
}

} // namespace

void barriers_begin_block()
{
    barriers.clear();
}

std::string barrier_text(const barrier &barrier)
{
    char text[160];

    snprintf(text, sizeof text,
             "barrier 0x%x in phase %llu (parity %u) lacks %u of %u arrivals "
             "and %lld bytes",
             barrier.address, static_cast<unsigned long long>(barrier.phase),
             unsigned(barrier.phase & 1), barrier.pending, barrier.count,
             static_cast<long long>(barrier.bytes));
    return text;
}

barrier &barrier_at(const void *pointer, const char *instruction)
{
    return barrier_of_rank(pointer, here->rank, instruction);
}

barrier &barrier_of_rank(const void *pointer, unsigned rank,
                         const char *instruction)
{
    uint32_t address = shared_of_rank(shared_address(pointer), rank);
    uint64_t word;

    cluster_check(rank, instruction);
    shared_check(address, sizeof word, sizeof word, instruction);
    auto found = barriers.find(address);
    if (found == barriers.end())
        fail("barrier-not-initialized", "%s at 0x%x", instruction, address);
    if (!m->current->knows.of(found->second.fact))
        fail("barrier-not-initialized",
             "%s at 0x%x: the thread has not synchronized with its "
             "mbarrier.init",
             instruction, address);
    memcpy(&word, shared_at(address), sizeof word);
    if (word != word_of(address))
        fail("barrier-overwritten", "%s at 0x%x: its word was written",
             instruction, address);
    return found->second;
}

void barrier_check_fenced(const barrier &barrier, const char *what)
{
    if (!barrier.fenced)
        fail("barrier-no-fence",
             "%s counts on barrier 0x%x, whose init was not followed by "
             "fence.mbarrier_init",
             what, barrier.address);
}

void barrier_complete(barrier &barrier, uint64_t phase, uint32_t bytes)
{
    if (barrier.phase != phase)
        fail("wrong-byte-count",
             "bytes of a copy issued in phase %llu landed after it: %s",
             static_cast<unsigned long long>(phase),
             barrier_text(barrier).c_str());
    barrier.bytes -= bytes;
    try_complete(barrier);
}

void mbarrier_init(void *pointer, uint32_t count)
{
    uint32_t address = shared_address(pointer);
    uint64_t word = word_of(address);

    shared_check(address, sizeof word, sizeof word, "mbarrier.init");
    if (!count || count > most_count)
        fail("bad-operand", "mbarrier.init with %u arrivals", count);
    if (barriers.count(address))
        fail("barrier-reinitialized", "mbarrier.init at 0x%x", address);
    barrier &made = barriers[address];
    made.address = address;
    made.count = made.pending = count;
    made.initializer = m->current;
    made.fact = new_fact();
    m->current->knows.learn(made.fact, 1);
    shared_write(address, &word, sizeof word);
    maybe_yield();
}

void fence_mbarrier_init()
{
    for (auto &entry : barriers)
        if (entry.second.initializer == m->current)
            entry.second.fenced = true;
}

void barrier_arrive(barrier &barrier, const knowledge &brings)
{
    if (!barrier.pending)
        fail("arrive-nothing-pending", "%s", barrier_text(barrier).c_str());
    m->idle = 0;
    barrier.pending--;
    barrier.gathered.join(brings);
    try_complete(barrier);
}

void mbarrier_arrive(void *pointer)
{
    barrier &barrier = barrier_at(pointer, "mbarrier.arrive");

    release(barrier.gathered);
    barrier_arrive(barrier, {});
    maybe_yield();
}

void mbarrier_arrive_cluster(void *pointer, unsigned rank)
{
    const char *what = "mbarrier.arrive.shared::cluster";

    if (rank >= m->ranks)
        fail("bad-operand", "%s in block %u of a cluster of %u", what, rank,
             m->ranks);
    barrier &barrier = barrier_of_rank(pointer, rank, what);
    barrier_check_fenced(barrier, what);
    cluster_use(rank);
    release(barrier.gathered);
    barrier_arrive(barrier, {});
    maybe_yield();
}

/* Part of an arrive: no thread runs in between. */
void mbarrier_expect_tx(void *pointer, uint32_t bytes)
{
    barrier &barrier = barrier_at(pointer, "mbarrier.expect_tx");

    if (!barrier.pending)
        fail("arrive-nothing-pending", "%s", barrier_text(barrier).c_str());
    barrier.bytes += bytes;
    check_count(barrier);
}

/* Whether the phase has completed; then the thread knows what came before. */
static bool test_wait(const barrier &barrier, uint32_t parity)
{
    if ((barrier.phase & 1) == parity)
        return false;
    m->current->knows.join(barrier.released);
    m->current->knows.learn(barrier.fact,
                            static_cast<uint32_t>(1 + barrier.phase));
    return true;
}

bool mbarrier_try_wait(void *pointer, uint32_t parity)
{
    maybe_yield();
    barrier &barrier = barrier_at(pointer, "mbarrier.try_wait");

    if (parity > 1)
        fail("bad-operand", "mbarrier.try_wait of parity %u", parity);
    if (test_wait(barrier, parity))
        return true;
    /* It may return early, so that who forgets to ask again is found. */
    if (m->random.below(8) == 0) {
        yield();
        return test_wait(barrier, parity);
    }
    barrier.waiting.push_back(m->current);
    char why[96];
    snprintf(why, sizeof why, "barrier 0x%x, parity %u", barrier.address,
             parity);
    block(why, &barrier);
    auto &waiting = barrier.waiting; /* still in it if nothing happened */
    waiting.erase(std::remove(waiting.begin(), waiting.end(), m->current),
                  waiting.end());
    return test_wait(barrier, parity);
}

} // namespace emu
