/* SPDX-License-Identifier: MIT */
/* What one thread issues to tensor memory: copies of scales, products, and
 * commits. PTX ISA 9.7.16.6, 9.7.16.9, 9.7.16.10.
 *
 * Each happens at some time after its issue, in no order but that a product
 * comes after the thread's earlier copies and its earlier products on the same
 * accumulator, and a commit after all of the thread's earlier work. */
#include "tcgen05.h"
#include "async.h"
#include "barrier.h"
#include "instructions.h"
#include "machine.h"
#include "shared.h"
#include "tcgen05_arithmetic.h"
#include "tcgen05_descriptor.h"
#include "tensor_access.h"

#include <string.h>

namespace emu {

namespace {

enum kind { copying, multiplying, committing };

struct operation {
    kind what;
    std::vector<uint32_t> units; /* of shared memory: A's rows, then B's */
    tensor_range d;              /* or where a copy goes */
    tensor_range scales_a, scales_b;
    tcgen05_instruction instruction;
    bool accumulate;
    barrier *committed; /* where to arrive */
    knowledge brings;   /* to those who wait there */
};

struct issuer {
    unsigned thread;
    std::vector<operation> open; /* that have not happened, in order */
};
std::vector<issuer> issuers; /* few threads are */

bool comes_after(const operation &later, const operation &earlier)
{
    switch (later.what) {
    case committing:
        return earlier.what != committing;
    case multiplying:
        return earlier.what == copying || (earlier.what == multiplying &&
                                           earlier.d.first == later.d.first);
    default:
        return false;
    }
}

bool can_happen(const std::vector<operation> &all, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (comes_after(all[i], all[j]))
            return false;
    return true;
}

/* Row i of 16 bytes goes to lane i of each 32: a column has 4 bytes of it. */
void copy_scales(const operation &copy)
{
    for (uint32_t lane = 0; lane < tensor_lanes; lane++)
        for (unsigned i = 0; i < copy.d.count; i++)
            memcpy(&tensor_at(copy.d.first)[i][lane],
                   shared_at(copy.units[lane % warp_threads]) + 4 * i, 4);
}

/* Row r's word: column r / 32, lane r % 32, and the same 32, 64 and 96 lanes
 * on, since each warp's part of the product reads its own. */
void gather_scales(const tensor_range &from, int rows, uint32_t *scales)
{
    for (int row = 0; row < rows; row++) {
        unsigned column = from.first + static_cast<unsigned>(row) / 32;
        unsigned lane = static_cast<unsigned>(row) % 32;

        scales[row] = tensor_at(column)[0][lane];
        for (unsigned i = lane + 32; i < tensor_lanes; i += 32)
            if (tensor_at(column)[0][i] != scales[row])
                fail("scales-not-replicated",
                     "tcgen05.mma reads scales in column %u of tensor memory: "
                     "lane %u has 0x%08x, lane %u has 0x%08x",
                     column, lane, scales[row], i, tensor_at(column)[0][i]);
    }
}

void multiply(const operation &product)
{
    int n = static_cast<int>(product.instruction.n);
    std::vector<uint8_t> rows(product.units.size() * shared_unit);
    uint32_t scales_a[tcgen05_rows], scales_b[256];

    for (size_t i = 0; i < product.units.size(); i++)
        memcpy(&rows[i * shared_unit], shared_at(product.units[i]),
               shared_unit);
    gather_scales(product.scales_a, tcgen05_rows, scales_a);
    gather_scales(product.scales_b, n, scales_b);
    tcgen05_multiply(
        {n, rows.data(), rows.data() + tcgen05_rows * tcgen05_row_bytes,
         scales_a, scales_b, product.instruction.ue8m0 != 0,
         product.instruction.a_negate != product.instruction.b_negate,
         product.accumulate},
        tensor_at(product.d.first));
}

void happen(const operation &operation)
{
    for (uint32_t unit : operation.units)
        shared_read_check(unit);
    if (operation.what == copying)
        copy_scales(operation);
    else if (operation.what == multiplying)
        multiply(operation);
    else
        barrier_arrive(*operation.committed, operation.brings);
    for (uint32_t unit : operation.units)
        shared_read_end(unit);
}

struct tensor_engine : engine {
    void begin_block() override
    {
        issuers.clear();
        tensor_begin_block();
        tensor_knowledge_begin_block();
        tcgen05_warps_begin_block();
    }
    size_t steps() const override
    {
        size_t count = 0;

        for (const issuer &issuer : issuers)
            for (size_t i = 0; i < issuer.open.size(); i++)
                count += can_happen(issuer.open, i);
        return count;
    }
    void run(size_t step) override
    {
        for (issuer &issuer : issuers)
            for (size_t i = 0; i < issuer.open.size(); i++)
                if (can_happen(issuer.open, i) && !step--) {
                    operation operation = std::move(issuer.open[i]);

                    issuer.open.erase(issuer.open.begin() +
                                      static_cast<ptrdiff_t>(i));
                    happen(operation);
                    return;
                }
    }
    /* Memory that was freed has no work left. A commit may be: nobody need
     * wait for it. */
    void end_block() override
    {
        tcgen05_warps_end_block();
    }
};

std::vector<operation> &queue_of(unsigned thread)
{
    for (issuer &issuer : issuers)
        if (issuer.thread == thread)
            return issuer.open;
    issuers.push_back({thread, {}});
    return issuers.back().open;
}

void issue(operation &&operation, moment end)
{
    for (uint32_t unit : operation.units)
        shared_read_begin(unit, end);
    queue_of(m->current->number).push_back(std::move(operation));
    maybe_yield();
}

} // namespace

engine *tcgen05_engine()
{
    static tensor_engine engine;

    return &engine;
}

void tcgen05_fence_before_thread_sync()
{
    tensor_fence_before();
    maybe_yield();
}

void tcgen05_fence_after_thread_sync()
{
    tensor_fence_after();
}

void tcgen05_cp(uint32_t address, uint64_t descriptor)
{
    operation copy{};

    copy.what = copying;
    copy.d = tensor_checked(address, 0, 4, "tcgen05.cp");
    copy.units = tcgen05_copy_units(descriptor);
    for (uint32_t unit : copy.units)
        shared_read_known(unit);
    moment end = tensor_next_work();
    tensor_copy(copy.d, end);
    issue(std::move(copy), end);
}

void tcgen05_mma(const tcgen05_product &product)
{
    operation made{};

    made.what = multiplying;
    made.instruction = tcgen05_checked_instruction(product.instruction);
    made.accumulate = product.accumulate;
    int n = static_cast<int>(made.instruction.n);
    made.units =
        tcgen05_operand_units(product.a, tcgen05_rows, "A of tcgen05.mma");
    for (uint32_t unit :
         tcgen05_operand_units(product.b, n, "B of tcgen05.mma"))
        made.units.push_back(unit);
    made.d =
        tensor_checked(product.d, 0, made.instruction.n, "D of tcgen05.mma");
    made.scales_a = tensor_checked(product.scales_a, 0, tcgen05_rows / 32,
                                   "scales of A of tcgen05.mma");
    made.scales_b =
        tensor_checked(product.scales_b, 0, (made.instruction.n + 31) / 32,
                       "scales of B of tcgen05.mma");
    for (uint32_t unit : made.units)
        shared_read_known(unit);
    moment end = tensor_next_work();
    tensor_product({made.d, made.scales_a, made.scales_b, made.accumulate},
                   end);
    issue(std::move(made), end);
}

/* It brings what the thread knows: its copies to shared memory, for one, that
 * the products have read. */
void tcgen05_commit(void *pointer)
{
    const char *what = "tcgen05.commit";
    operation commit{};

    commit.what = committing;
    commit.committed = &barrier_at(pointer, what);
    barrier_check_fenced(*commit.committed, what);
    release(commit.brings);
    moment end = tensor_issued_work();
    commit.brings.learn(end.fact, end.value);
    issue(std::move(commit), end);
}

} // namespace emu
