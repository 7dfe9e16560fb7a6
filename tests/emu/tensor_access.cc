/* SPDX-License-Identifier: MIT */
/* Each column has a record for every 32 lanes: what a warp can load. */
#include "tensor_access.h"

#include <algorithm>
#include <deque>

namespace emu {

namespace {

enum instrument { nothing, copy, product }; /* that wrote last */

struct load {
    unsigned warp;
    uint32_t number;
};

struct slot {
    instrument by;
    unsigned thread;      /* that issued it */
    tensor_range d;       /* of a product */
    moment written;       /* ends */
    std::vector<moment> reads; /* of scales, since the last write */
    std::vector<load> loads;
};

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

slot slots[tensor_quarters][tensor_columns];
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

/* What is done to a column, for messages. */
struct attempt {
    const char *what; /* "tcgen05.cp writes" */
    unsigned column;
    const char *name; /* of the error where the thread knows nothing */
    bool warp_wide;   /* then the warp's own loads are over */
};

/* The thread has heard of it, but not since its last fence after. */
[[noreturn]] void fail_no_fence_after(const attempt &attempt)
{
    fail("tensor-no-fence",
         "%s column %u of tensor memory: the thread has synchronized with "
         "what used it before, but without a "
         "tcgen05.fence::after_thread_sync since",
         attempt.what, attempt.column);
}

void check_work(const thread &who, moment end, const char *user,
                const attempt &attempt)
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
void check_lane(const thread &who, const thread &other, const load &load,
                const attempt &attempt)
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

void check_load(const thread &who, const load &load, const attempt &attempt)
{
    const warp &warp = m->warps[load.warp];

    for (unsigned i = 0; i < warp.lanes; i++)
        check_lane(who, lane(warp, i), load, attempt);
}

/* Once a range, not once a column. */
void check_allocation(const thread &who, const tensor_range &range,
                      const char *what)
{
    const tensor_allocation &owner = *tensor_owner(range.first);

    check_load(who, {owner.warp, owner.access},
               {what, range.first, "tensor-missing-wait", true});
}

template <class F> void for_slots(const tensor_range &range, F f)
{
    for (unsigned column = range.first; column < range.first + range.count;
         column++)
        for (auto &quarter : slots)
            f(quarter[column], column);
}

void check_written(const slot &slot, const attempt &attempt)
{
    if (slot.by == nothing)
        fail("tensor-uninitialized",
             "%s column %u of tensor memory, which nothing has written",
             attempt.what, attempt.column);
}

/* For a write of another kind, or by another thread, than the last. */
void check_overwrite(const thread &who, const slot &slot,
                     const attempt &attempt)
{
    if (slot.by != nothing)
        check_work(who, slot.written,
                   slot.by == copy ? "tcgen05.cp that writes it"
                                   : "tcgen05.mma that writes it",
                   attempt);
}

void check_readers(const thread &who, const slot &slot, const attempt &attempt)
{
    for (const moment &read : slot.reads)
        check_work(who, read, "tcgen05.mma that reads these scales", attempt);
    for (const load &load : slot.loads)
        check_load(who, load, attempt);
}

void write(slot &slot, instrument by, const tensor_range &d, moment end)
{
    slot.by = by;
    slot.thread = m->current->number;
    slot.d = d;
    slot.written = end;
    slot.reads.clear();
    slot.loads.clear();
}

void read_scales(const tensor_range &range, moment end)
{
    for_slots(range, [&](slot &slot, unsigned column) {
        attempt attempt = {"tcgen05.mma reads scales in", column,
                           "tensor-missing-wait", false};

        check_written(slot, attempt);
        if (slot.by != copy || slot.thread != m->current->number)
            check_work(*m->current, slot.written, "write of it", attempt);
        for (moment &read : slot.reads)
            if (read.fact == end.fact) {
                read = end;
                return;
            }
        slot.reads.push_back(end);
    });
}

/* Products of one thread on one accumulator are in order, as is a product
 * after a copy. */
bool follows(const slot &slot, const tensor_range &d)
{
    return slot.thread == m->current->number &&
           (slot.by == copy ||
            (slot.d.first == d.first && slot.d.count == d.count));
}

} // namespace

void tensor_access_begin_block()
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

void tensor_product(const tensor_product_ranges &ranges, moment end)
{
    const thread &who = *m->current;

    check_allocation(who, ranges.d, "tcgen05.mma writes");
    check_allocation(who, ranges.scales_a, "tcgen05.mma reads scales in");
    check_allocation(who, ranges.scales_b, "tcgen05.mma reads scales in");
    read_scales(ranges.scales_a, end);
    read_scales(ranges.scales_b, end);
    for_slots(ranges.d, [&](slot &slot, unsigned column) {
        attempt attempt = {"tcgen05.mma writes", column,
                           "tensor-early-overwrite", false};

        if (ranges.accumulate)
            check_written(slot, {"tcgen05.mma adds to", column, "", false});
        if (!follows(slot, ranges.d))
            check_overwrite(who, slot, attempt);
        check_readers(who, slot, attempt);
        write(slot, product, ranges.d, end);
    });
}

void tensor_copy(const tensor_range &to, moment end)
{
    const thread &who = *m->current;

    check_allocation(who, to, "tcgen05.cp writes");
    for_slots(to, [&](slot &slot, unsigned column) {
        attempt attempt = {"tcgen05.cp writes", column,
                           "tensor-early-overwrite", false};

        check_readers(who, slot, attempt);
        check_overwrite(who, slot, attempt);
        write(slot, copy, to, end);
    });
}

void tensor_load(const tensor_range &from, unsigned quarter, uint32_t access)
{
    const warp &warp = current_warp();
    unsigned number = warp.first / warp_threads;

    for (unsigned i = 0; i < warp.lanes; i++) {
        const thread &who = lane(warp, i);

        check_allocation(who, from, "tcgen05.ld reads");
        for (unsigned column = from.first; column < from.first + from.count;
             column++) {
            attempt attempt = {"tcgen05.ld reads", column,
                               "tensor-missing-wait", true};
            const slot &slot = slots[quarter][column];

            check_written(slot, attempt);
            check_work(who, slot.written,
                       slot.by == copy ? "tcgen05.cp that writes it"
                                       : "tcgen05.mma that writes it",
                       attempt);
        }
    }
    for (unsigned column = from.first; column < from.first + from.count;
         column++) {
        auto &loads = slots[quarter][column].loads;

        loads.erase(std::remove_if(
                        loads.begin(), loads.end(),
                        [&](const load &l) { return l.warp == number; }),
                    loads.end());
        loads.push_back({number, access});
    }
}

void tensor_begin_use(const tensor_allocation &allocation)
{
    for_slots({allocation.first, allocation.columns},
              [](slot &slot, unsigned) { slot = {}; });
}

/* Most columns have the same users, and each is a question to 32 lanes. */
struct users {
    std::vector<moment> work;
    std::vector<load> loads;

    void add(moment end)
    {
        for (moment &known : work)
            if (known.fact == end.fact) {
                known.value = max(known.value, end.value);
                return;
            }
        work.push_back(end);
    }
    void add(const load &load)
    {
        for (struct load &known : loads)
            if (known.warp == load.warp) {
                known.number = max(known.number, load.number);
                return;
            }
        loads.push_back(load);
    }
};

void tensor_end_use(const tensor_allocation &allocation)
{
    const warp &warp = current_warp();
    attempt attempt = {"tcgen05.dealloc frees", allocation.first,
                       "tensor-freed-early", true};
    users users;

    for_slots({allocation.first, allocation.columns},
              [&](slot &slot, unsigned) {
                  if (slot.by != nothing)
                      users.add(slot.written);
                  for (const moment &read : slot.reads)
                      users.add(read);
                  for (const load &load : slot.loads)
                      users.add(load);
              });
    for (unsigned i = 0; i < warp.lanes; i++) {
        for (const moment &work : users.work)
            check_work(lane(warp, i), work, "work on the allocation",
                       attempt);
        for (const load &load : users.loads)
            check_load(lane(warp, i), load, attempt);
    }
}

} // namespace emu
