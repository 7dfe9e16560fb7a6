/* SPDX-License-Identifier: MIT */
/* Fences and waits, and the questions whether a thread may rely on them. */
#include "tensor_knowledge.h"

#include <deque>

namespace emu {

namespace {

/* A wait::ld: for all accesses up to that one, at the thread's clock. */
struct wait {
    uint32_t access, clock;
};

struct thread_state {
    knowledge knows; /* as of the last fence::after_thread_sync */
    unsigned load_fact = 0, work_fact = 0;
    uint32_t work = 0;
    std::deque<wait> waits; /* the last few */

    /* The clock of what it released first after the wait for an access. */
    uint32_t clock_after(uint32_t access) const
    {
        for (const wait &wait : waits)
            if (wait.access >= access)
                return wait.clock;
        return ~0u;
    }
};

struct warp_state {
    uint32_t accesses = 0, waited = 0;
};

constexpr size_t most_waits = 32; /* remembered, for messages only */

std::vector<thread_state> threads;
std::vector<warp_state> warps;

thread_state &state_of(const thread &thread)
{
    return threads[thread.number];
}

thread_state &self()
{
    return state_of(*m->current);
}

unsigned work_fact(thread_state &state)
{
    if (!state.work_fact)
        state.work_fact = new_fact();
    return state.work_fact;
}

unsigned load_fact(thread_state &state)
{
    if (!state.load_fact)
        state.load_fact = new_fact();
    return state.load_fact;
}

/* The thread has heard of it, but not since its last fence after. */
[[noreturn]] void fail_no_fence_after(const tensor_attempt &attempt)
{
    fail("tensor-no-fence",
         "%s column %u of tensor memory: the thread has synchronized with "
         "what used it before, but without a "
         "tcgen05.fence::after_thread_sync since",
         attempt.what, attempt.column);
}

} // namespace

void tensor_check_work(const thread &who, moment end, const char *user,
                       const tensor_attempt &attempt)
{
    if (end.known(state_of(who).knows))
        return;
    if (end.known(who.knows))
        fail_no_fence_after(attempt);
    fail(attempt.name,
         "%s column %u of tensor memory; thread %u does not know that the "
         "%s is done",
         attempt.what, attempt.column, who.number, user);
}

/* One lane's part of a load or an allocation. */
static void check_lane(const thread &who, const thread &other,
                       const tensor_warp_access &load,
                       const tensor_attempt &attempt)
{
    const thread_state &state = state_of(other);
    bool waited = warps[load.warp].waited >= load.number;

    if (waited && who.number / warp_threads == load.warp &&
        (attempt.warp_wide || &who == &other))
        return;
    if (state.load_fact &&
        state_of(who).knows.of(state.load_fact) >= load.number)
        return;
    if (state.load_fact && who.knows.of(state.load_fact) >= load.number)
        fail_no_fence_after(attempt);
    if (waited && who.knows.of(thread_fact(other.number)) >=
                      state.clock_after(load.number))
        fail("tensor-no-fence",
             "%s column %u of tensor memory: thread %u has used it and "
             "synchronized, but without a tcgen05.fence::before_thread_sync",
             attempt.what, attempt.column, other.number);
    fail(attempt.name,
         "%s column %u of tensor memory; thread %u does not know that the "
         "tcgen05.ld or alloc of thread %u is done%s",
         attempt.what, attempt.column, who.number, other.number,
         waited ? "" : ", which has not come to its tcgen05.wait::ld");
}

void tensor_check_load(const thread &who, const tensor_warp_access &load,
                       const tensor_attempt &attempt)
{
    const warp &warp = m->warps[load.warp];

    for (unsigned i = 0; i < warp.lanes; i++)
        check_lane(who, lane(warp, i), load, attempt);
}

void tensor_knowledge_begin_block()
{
    threads.clear();
    threads.resize(m->threads_count);
    warps.clear();
    warps.resize(m->warps.size());
}

void tensor_fence_before()
{
    const warp_state &warp = warps[m->current->number / warp_threads];

    if (warp.waited)
        m->current->knows.learn(load_fact(self()), warp.waited);
}

void tensor_fence_after()
{
    self().knows = m->current->knows;
}

moment tensor_next_work()
{
    thread_state &state = self();

    return {work_fact(state), ++state.work};
}

moment tensor_issued_work()
{
    thread_state &state = self();

    return {work_fact(state), state.work};
}

uint32_t tensor_next_access()
{
    return ++warps[m->current->number / warp_threads].accesses;
}

void tensor_waited(const warp &warp)
{
    warp_state &state = warps[warp.first / warp_threads];

    state.waited = state.accesses;
    for (unsigned i = 0; i < warp.lanes; i++) {
        std::deque<wait> &waits = state_of(lane(warp, i)).waits;

        waits.push_back({state.waited, lane(warp, i).clock});
        if (waits.size() > most_waits)
            waits.pop_front();
    }
}

} // namespace emu
