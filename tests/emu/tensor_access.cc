/* SPDX-License-Identifier: MIT */
/* Each column has a record for every 32 lanes: what a warp can load. */
#include "tensor_access.h"
#include "cluster.h"

#include <algorithm>

namespace emu {

namespace {

enum instrument { nothing, copy, product }; /* that wrote last */

struct slot {
    instrument by;
    unsigned thread;           /* that issued it */
    tensor_range d;            /* of a product */
    moment written;            /* ends */
    std::vector<moment> reads; /* of scales, since the last write */
    std::vector<tensor_warp_access> loads;
};

slot slots[tensor_quarters][cluster_most_blocks * tensor_columns];

/* Once a range, not once a column. */
void check_allocation(const thread &who, const tensor_range &range,
                      const char *what)
{
    const tensor_allocation &owner = *tensor_owner(range.first);

    tensor_check_load(
        who, {owner.warp, owner.access},
        {what, range.first % tensor_columns, "tensor-missing-wait", true});
}

template <class F> void for_slots(const tensor_range &range, F f)
{
    for (unsigned column = range.first; column < range.first + range.count;
         column++)
        for (auto &quarter : slots)
            f(quarter[column], column % tensor_columns);
}

void check_written(const slot &slot, const tensor_attempt &attempt)
{
    if (slot.by == nothing)
        fail("tensor-uninitialized",
             "%s column %u of tensor memory, which nothing has written",
             attempt.what, attempt.column);
}

/* For a write of another kind, or by another thread, than the last. */
void check_overwrite(const thread &who, const slot &slot,
                     const tensor_attempt &attempt)
{
    if (slot.by != nothing)
        tensor_check_work(who, slot.written,
                          slot.by == copy ? "tcgen05.cp that writes it"
                                          : "tcgen05.mma that writes it",
                          attempt);
}

void check_readers(const thread &who, const slot &slot,
                   const tensor_attempt &attempt)
{
    for (const moment &read : slot.reads)
        tensor_check_work(who, read, "tcgen05.mma that reads these scales",
                          attempt);
    for (const tensor_warp_access &load : slot.loads)
        tensor_check_load(who, load, attempt);
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
        tensor_attempt attempt = {"tcgen05.mma reads scales in", column,
                                  "tensor-missing-wait", false};

        check_written(slot, attempt);
        if (slot.by != copy || slot.thread != m->current->number)
            tensor_check_work(*m->current, slot.written, "write of it",
                              attempt);
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

static tensor_range in_block(const tensor_range &range, int index)
{
    return {range.first + static_cast<unsigned>(index) * tensor_columns,
            range.count};
}

static void product_in_block(const tensor_product_ranges &ranges, moment end)
{
    const thread &who = *m->current;

    read_scales(ranges.scales_a, end);
    read_scales(ranges.scales_b, end);
    for_slots(ranges.d, [&](slot &slot, unsigned column) {
        tensor_attempt attempt = {"tcgen05.mma writes", column,
                                  "tensor-early-overwrite", false};

        if (ranges.accumulate)
            check_written(slot, {"tcgen05.mma adds to", column, "", false});
        if (!follows(slot, ranges.d))
            check_overwrite(who, slot, attempt);
        check_readers(who, slot, attempt);
        write(slot, product, ranges.d, end);
    });
}

/* A pair allocates together: what is known of one block's is of the other's.
 */
void tensor_product(int ctas, const tensor_product_ranges &ranges, moment end)
{
    const thread &who = *m->current;

    check_allocation(who, ranges.d, "tcgen05.mma writes");
    check_allocation(who, ranges.scales_a, "tcgen05.mma reads scales in");
    check_allocation(who, ranges.scales_b, "tcgen05.mma reads scales in");
    for (int i = 0; i < ctas; i++)
        product_in_block({in_block(ranges.d, i), in_block(ranges.scales_a, i),
                          in_block(ranges.scales_b, i), ranges.accumulate},
                         end);
}

void tensor_copy(int ctas, const tensor_range &to, moment end)
{
    const thread &who = *m->current;
    auto copy_to = [&](slot &slot, unsigned column) {
        tensor_attempt attempt = {"tcgen05.cp writes", column,
                                  "tensor-early-overwrite", false};

        check_readers(who, slot, attempt);
        check_overwrite(who, slot, attempt);
        write(slot, copy, to, end);
    };

    check_allocation(who, to, "tcgen05.cp writes");
    for (int i = 0; i < ctas; i++)
        for_slots(in_block(to, i), copy_to);
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
            tensor_attempt attempt = {"tcgen05.ld reads",
                                      column % tensor_columns,
                                      "tensor-missing-wait", true};
            const slot &slot = slots[quarter][column];

            check_written(slot, attempt);
            tensor_check_work(who, slot.written,
                              slot.by == copy ? "tcgen05.cp that writes it"
                                              : "tcgen05.mma that writes it",
                              attempt);
        }
    }
    for (unsigned column = from.first; column < from.first + from.count;
         column++) {
        auto &loads = slots[quarter][column].loads;

        loads.erase(std::remove_if(loads.begin(), loads.end(),
                                   [&](const tensor_warp_access &l) {
                                       return l.warp == number;
                                   }),
                    loads.end());
        loads.push_back({number, access});
    }
}

void tensor_begin_use(const tensor_range &columns)
{
    for_slots(columns, [](slot &slot, unsigned) { slot = {}; });
}

/* Most columns have the same users, and each is a question to 32 lanes. */
struct users {
    std::vector<moment> work;
    std::vector<tensor_warp_access> loads;

    void add(moment end)
    {
        for (moment &known : work)
            if (known.fact == end.fact) {
                known.value = max(known.value, end.value);
                return;
            }
        work.push_back(end);
    }
    void add(const tensor_warp_access &load)
    {
        for (tensor_warp_access &known : loads)
            if (known.warp == load.warp) {
                known.number = max(known.number, load.number);
                return;
            }
        loads.push_back(load);
    }
};

void tensor_end_use(const tensor_range &columns)
{
    const warp &warp = current_warp();
    tensor_attempt attempt = {"tcgen05.dealloc frees",
                              columns.first % tensor_columns,
                              "tensor-freed-early", true};
    users users;

    for_slots(columns, [&](slot &slot, unsigned) {
        if (slot.by != nothing)
            users.add(slot.written);
        for (const moment &read : slot.reads)
            users.add(read);
        for (const tensor_warp_access &load : slot.loads)
            users.add(load);
    });
    for (unsigned i = 0; i < warp.lanes; i++) {
        for (const moment &work : users.work)
            tensor_check_work(lane(warp, i), work, "work on the allocation",
                              attempt);
        for (const tensor_warp_access &load : users.loads)
            tensor_check_load(lane(warp, i), load, attempt);
    }
}

} // namespace emu
