/* SPDX-License-Identifier: MIT */
/* What whole warps do with tensor memory: allocate, free, load. PTX ISA
 * 9.7.16.7 and 9.7.16.8. */
#include "half.h"
#include "instructions.h"
#include "machine.h"
#include "shared.h"
#include "tcgen05.h"
#include "tcgen05_pair.h"
#include "tensor_access.h"

#include <string.h>

namespace emu {

namespace {

/* Registers of a load that no wait covers; they hold poison. */
struct pending_load {
    float *to;
    std::vector<float> values;
};

std::vector<std::vector<pending_load>> pending; /* of each thread */
std::vector<bool> relinquished;                 /* by each block */
std::vector<thread *> waiting;                  /* for columns */

unsigned warp_number(const warp &warp)
{
    return warp.first / warp_threads;
}

void check_columns(uint32_t columns, const char *what)
{
    if (columns < 32 || columns > tensor_columns || columns & (columns - 1))
        fail("bad-alloc",
             "%s of %u columns, which is not 32, 64, 128, 256 or 512", what,
             columns);
}

/* At the same place in both blocks of a pair, when a warp of each has come. */
unsigned find_columns(int ctas, uint32_t columns)
{
    unsigned first = here->rank & ~unsigned(ctas - 1), place;

    if (ctas == 2 && !tcgen05_meet("tcgen05.alloc", columns, &place))
        return place;
    while (!tensor_take(first, static_cast<unsigned>(ctas), columns, &place)) {
        waiting.push_back(m->current);
        block("columns of tensor memory");
    }
    if (ctas == 2)
        tcgen05_part(place);
    return place;
}

/* Lanes need equal operands; the last one to come does the work. */
void take(int ctas, uint32_t *address, uint32_t columns)
{
    const char *what = "tcgen05.alloc";
    uint32_t shared = shared_address(address);
    warp &warp = current_warp();

    tcgen05_check_group(ctas, what);
    check_columns(columns, what);
    shared_check(shared, sizeof *address, sizeof *address, what);
    if (relinquished[here->rank])
        fail("alloc-after-relinquish",
             "%s after tcgen05.relinquish_alloc_permit", what);
    unsigned place = find_columns(ctas, columns);
    tensor_allocation *made = tensor_owner(tensor_first_column() + place);
    made->warp = warp_number(warp);
    made->access = tensor_next_access();
    if (pending[warp.first].empty())
        tensor_waited(warp);
    tensor_begin_use({made->first, made->columns});
    shared_access(address, sizeof *address, true);
    memcpy(address, &place, sizeof *address);
}

/* Both warps of a pair must know that both blocks are done. */
void check_unused(int ctas, uint32_t address, uint32_t columns)
{
    unsigned first = here->rank & ~unsigned(ctas - 1), unused;

    for (unsigned rank = first; rank < first + unsigned(ctas); rank++)
        tensor_end_use({rank * tensor_columns + address, columns});
    if (ctas == 2 && tcgen05_meet("tcgen05.dealloc", address, &unused))
        tcgen05_part(0);
}

void give_back(int ctas, uint32_t address, uint32_t columns)
{
    const char *what = "tcgen05.dealloc";
    warp &warp = current_warp();
    unsigned first = tensor_first_column() + address;
    tensor_allocation *owner =
        address < tensor_columns ? tensor_owner(first) : nullptr;

    tcgen05_check_group(ctas, what);
    check_columns(columns, what);
    if (!owner || owner->first != first)
        fail("bad-dealloc",
             "%s of 0x%08x, where no allocation of tensor memory begins", what,
             address);
    if (owner->columns != columns)
        fail("bad-dealloc", "%s of %u columns at 0x%08x, which has %u", what,
             columns, address, owner->columns);
    if (owner->warp != warp_number(warp))
        fail("bad-dealloc", "%s by warp %u of what warp %u allocated", what,
             warp_number(warp), owner->warp);
    check_unused(ctas, address, columns);
    tensor_give_back(owner);
    for (thread *thread : waiting)
        wake(thread);
    waiting.clear();
}

/* The values are those of the issue: what could change them before the wait
 * is an error. */
void load(const warp &warp, int columns, uint32_t address)
{
    unsigned quarter =
        warp.first % m->block_threads / warp_threads % tensor_quarters;
    tensor_range from =
        tensor_checked(address, quarter * warp_threads,
                       static_cast<unsigned>(columns), "tcgen05.ld");

    tensor_load(from, quarter, tensor_next_access());
    for (unsigned i = 0; i < warp.lanes; i++) {
        float *to =
            static_cast<float *>(const_cast<void *>(lane(warp, i).operand[0]));
        pending_load load = {to, {}};

        for (unsigned j = 0; j < from.count; j++) {
            load.values.push_back(float_of_bits(
                tensor_at(from.first + j)[0][quarter * warp_threads + i]));
            to[j] = float_of_bits(register_poison);
        }
        pending[warp.first + i].push_back(std::move(load));
    }
}

void deliver(unsigned thread)
{
    for (const pending_load &load : pending[thread])
        for (size_t i = 0; i < load.values.size(); i++) {
            if (bits_of_float(load.to[i]) != register_poison)
                fail("register-changed",
                     "thread %u wrote register %zu of a tcgen05.ld before "
                     "its tcgen05.wait::ld",
                     thread, i);
            load.to[i] = load.values[i];
        }
    pending[thread].clear();
}

} // namespace

void tcgen05_warps_begin_block()
{
    pending.clear();
    pending.resize(m->threads_count);
    waiting.clear();
    relinquished.assign(m->ranks, false);
    tcgen05_pairs_begin();
}

void tcgen05_warps_end_block()
{
    for (unsigned i = 0; i < m->ranks * tensor_columns; i += 32)
        if (const tensor_allocation *left = tensor_owner(i))
            fail("tensor-not-freed",
                 "the block ended without a tcgen05.dealloc of %u columns at "
                 "0x%08x that warp %u allocated",
                 left->columns, left->first % tensor_columns, left->warp);
}

void tcgen05_alloc(int ctas, uint32_t *address, uint32_t columns)
{
    if (!warp_enter("tcgen05.alloc", columns,
                    reinterpret_cast<uintptr_t>(address)))
        return;
    take(ctas, address, columns);
    warp_leave();
    maybe_yield();
}

void tcgen05_relinquish_alloc_permit(int ctas)
{
    const char *what = "tcgen05.relinquish_alloc_permit";

    if (!warp_enter(what))
        return;
    tcgen05_check_group(ctas, what);
    relinquished[here->rank] = true;
    warp_leave();
}

void tcgen05_dealloc(int ctas, uint32_t address, uint32_t columns)
{
    if (!warp_enter("tcgen05.dealloc", columns, address))
        return;
    give_back(ctas, address, columns);
    warp_leave();
}

void tcgen05_ld(float *d, int columns, uint32_t address)
{
    m->current->operand[0] = d;
    if (!warp_enter("tcgen05.ld", static_cast<uint64_t>(columns), address))
        return;
    load(current_warp(), columns, address);
    warp_leave();
    maybe_yield();
}

void tcgen05_wait_ld()
{
    if (!warp_enter("tcgen05.wait::ld"))
        return;
    warp &warp = current_warp();

    for (unsigned i = 0; i < warp.lanes; i++)
        deliver(warp.first + i);
    tensor_waited(warp);
    warp_leave();
    maybe_yield();
}

} // namespace emu
