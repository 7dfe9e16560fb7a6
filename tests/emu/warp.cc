/* SPDX-License-Identifier: MIT */
/* Instructions that a whole warp executes together, barriers between threads,
 * and the shares of the registers. PTX ISA 9.7.13.1, 9.7.15, 9.7.20. */
#include "instructions.h"
#include "machine.h"
#include "order.h"
#include "shared.h"

#include <algorithm>

#include <stdio.h>
#include <string.h>

namespace emu {

namespace {

struct named_barrier {
    unsigned expected = 0;
    std::vector<thread *> arrived;
    knowledge knows; /* of those */
};

constexpr unsigned named_barriers = 16;

struct register_request {
    thread *who;
    int more;
};

struct block_state {
    named_barrier named[named_barriers];
    int free_registers = 0;
    std::vector<register_request> register_queue;
};
std::vector<block_state> blocks; /* of the cluster */

/* Gives registers to those who wait, in their order. */
void grant_registers(block_state &block)
{
    auto &queue = block.register_queue;
    size_t i = 0;

    for (; i < queue.size(); i++) {
        if (queue[i].more > block.free_registers)
            break;
        block.free_registers -= queue[i].more;
        wake(queue[i].who);
    }
    queue.erase(queue.begin(), queue.begin() + static_cast<ptrdiff_t>(i));
}

} // namespace

void warps_begin_block()
{
    blocks.clear();
    blocks.resize(m->ranks);
    m->cluster_waited = false;
}

warp &current_warp()
{
    return m->warps[m->current->number / warp_threads];
}

bool warp_enter(const char *instruction, uint64_t x, uint64_t y)
{
    warp &warp = current_warp();

    if (!warp.arrived) {
        warp.instruction = instruction;
        warp.x = x;
        warp.y = y;
    } else {
        check_equal({instruction, x, y, 0},
                    {warp.instruction, warp.x, warp.y, 0});
    }
    release(warp.knows);
    if (++warp.arrived == warp.lanes)
        return true;
    block(std::string("the other lanes at ") + instruction);
    return false;
}

void warp_leave()
{
    warp &warp = current_warp();

    m->idle = 0;
    warp.arrived = 0;
    warp.knows.join(m->current->knows);
    for (unsigned i = 0; i < warp.lanes; i++) {
        lane(warp, i).knows = warp.knows;
        wake(&lane(warp, i));
    }
}

void syncwarp()
{
    if (warp_enter("bar.warp.sync"))
        warp_leave();
}

/* The lane depends on the seed, but not on the time. */
bool elect_one()
{
    unsigned warp = m->current->number / warp_threads;
    random_source random = {m->launch->seed + warp};

    if (warp_enter("elect.sync"))
        warp_leave();
    return m->current->number % warp_threads ==
           random.below(current_warp().lanes);
}

/* All lanes are named, so all must come. */
uint32_t redux(redux_operation operation, uint32_t value)
{
    bool sum = operation == redux_operation::sum;
    thread *self = m->current;

    self->word[0] = value;
    if (!warp_enter(sum ? "redux.sync.add" : "redux.sync.min"))
        return self->word[0];
    const warp &warp = current_warp();
    if (warp.lanes != warp_threads)
        fail("bad-operand", "redux.sync of 32 lanes in a warp of %u",
             warp.lanes);
    for (unsigned i = 0; i < warp_threads; i++) {
        uint32_t other = lane(warp, i).word[0];

        if (&lane(warp, i) != self)
            value = sum ? value + other : std::min(value, other);
    }
    for (unsigned i = 0; i < warp_threads; i++)
        lane(warp, i).word[0] = value;
    warp_leave();
    return value;
}

/* Of whole warps, as above. Distances are taken modulo 32. */
uint32_t shfl_up(uint32_t value, uint32_t distance)
{
    thread *self = m->current;

    self->word[0] = value;
    if (!warp_enter("shfl.sync.up", distance))
        return self->word[1];
    const warp &warp = current_warp();
    if (warp.lanes != warp_threads)
        fail("bad-operand", "shfl.sync of 32 lanes in a warp of %u",
             warp.lanes);
    for (unsigned i = 0; i < warp_threads; i++) {
        unsigned from = distance % warp_threads;

        lane(warp, i).word[1] = lane(warp, from <= i ? i - from : i).word[0];
    }
    warp_leave();
    return self->word[1];
}

void bar_sync(unsigned id, unsigned threads)
{
    if (id >= named_barriers)
        fail("bad-operand", "bar.sync %u, %u", id, threads);
    named_barrier &barrier = blocks[here->rank].named[id];

    if (!threads || threads > m->block_threads ||
        (threads % warp_threads && threads != m->block_threads))
        fail("bad-operand", "bar.sync %u, %u in a block of %u", id, threads,
             m->block_threads);
    if (!barrier.arrived.empty() && barrier.expected != threads)
        fail("unequal-arguments",
             "bar.sync %u, %u, while other threads wait for %u at it", id,
             threads, barrier.expected);
    barrier.expected = threads;
    release(barrier.knows);
    if (barrier.arrived.size() + 1 < threads) {
        char why[64];

        barrier.arrived.push_back(m->current);
        snprintf(why, sizeof why, "bar.sync %u of %u threads", id, threads);
        block(why);
        return;
    }
    m->idle = 0;
    m->current->knows = barrier.knows;
    for (thread *thread : barrier.arrived) {
        thread->knows = barrier.knows;
        wake(thread);
    }
    barrier.arrived.clear();
    maybe_yield();
}

/* An increase waits until the registers are free. */
void setmaxnreg(int registers, bool increase)
{
    thread *self = m->current;
    int more = registers - self->registers;

    if (registers < 24 || registers > 256 || registers % 8)
        fail("bad-operand", "setmaxnreg of %d registers", registers);
    if (increase ? more < 0 : more > 0)
        fail("bad-operand", "setmaxnreg.%s from %d to %d registers",
             increase ? "inc" : "dec", self->registers, registers);
    if (warp_enter(increase ? "setmaxnreg.inc" : "setmaxnreg.dec",
                   static_cast<uint64_t>(registers)))
        warp_leave();
    self->registers = registers;
    block_state &own = blocks[here->rank];
    if (more <= 0) {
        own.free_registers -= more;
        grant_registers(own);
        return;
    }
    own.register_queue.push_back({self, more});
    if (own.register_queue.size() == 1 && more <= own.free_registers) {
        own.free_registers -= more;
        own.register_queue.clear();
        return;
    }
    block("registers of setmaxnreg.inc");
}

void griddepcontrol_wait()
{
    m->dependence_wanted = m->cluster_waited = true;
    if (m->launch->waited)
        *m->launch->waited = 1;
    yield();
}

void griddepcontrol_launch_dependents()
{
    maybe_yield();
}

/* PTX's fragment of an 8x8 matrix: lane l holds elements 2 (l % 4) and the
 * next of row l / 4. Lane 8 i + r gives the address of row r of matrix i. */
void stmatrix(void *row, const uint32_t *values, int matrices, bool transposed)
{
    thread *self = m->current;

    self->operand[0] = row;
    memcpy(self->word, values, sizeof *values * static_cast<size_t>(matrices));
    if (!warp_enter(transposed ? "stmatrix.trans" : "stmatrix",
                    static_cast<uint64_t>(matrices)))
        return;
    const warp &warp = current_warp();
    for (int i = 0; i < matrices; i++) {
        uint16_t matrix[8][8];

        for (unsigned l = 0; l < warp_threads; l++)
            for (unsigned j = 0; j < 2; j++) {
                unsigned r = l / 4, c = l % 4 * 2 + j;
                uint32_t word = lane(warp, l).word[i];

                matrix[transposed ? c : r][transposed ? r : c] =
                    static_cast<uint16_t>(word >> 16 * j);
            }
        for (unsigned r = 0; r < 8; r++) {
            const void *to =
                lane(warp, 8 * static_cast<unsigned>(i) + r).operand[0];
            uint32_t address = shared_address(to);

            shared_check(address, 16, 16, "stmatrix");
            shared_access(to, 16, true);
            memcpy(shared_at(address), matrix[r], 16);
        }
    }
    warp_leave();
    maybe_yield();
}

} // namespace emu
