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
#include "cluster.h"
#include "instructions.h"
#include "machine.h"
#include "shared.h"
#include "tcgen05_arithmetic.h"
#include "tcgen05_descriptor.h"
#include "tcgen05_pair.h"
#include "tensor_access.h"

#include <string.h>

namespace emu {

namespace {

enum kind { copying, multiplying, committing };

struct operation {
    kind what;
    int ctas;
    std::vector<uint32_t> units;     /* of shared memory: A's rows, then B's */
    tensor_range d;                  /* or where a copy goes */
    tensor_range scales_a, scales_b; /* all in the issuing block */
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

/* Columns from that one on, in the index-th block. */
uint32_t (*columns_of(const tensor_range &range, int index))[tensor_lanes]
{
    return tensor_at(range.first +
                     static_cast<unsigned>(index) * tensor_columns);
}

/* Row i of 16 bytes goes to lane i of each 32: a column has 4 bytes of it. */
void copy_scales(const operation &copy, int index)
{
    const uint32_t *units =
        &copy.units[static_cast<unsigned>(index) * warp_threads];

    for (uint32_t lane = 0; lane < tensor_lanes; lane++)
        for (unsigned i = 0; i < copy.d.count; i++)
            memcpy(&columns_of(copy.d, index)[i][lane],
                   shared_at(units[lane % warp_threads]) + 4 * i, 4);
}

/* Row r's word: column r / 32, lane r % 32, and the same 32, 64 and 96 lanes
 * on, since each warp's part of the product reads its own. */
void gather_scales(const tensor_range &from, int index, int rows,
                   uint32_t *scales)
{
    for (int row = 0; row < rows; row++) {
        const uint32_t *column = columns_of(from, index)[row / 32];
        unsigned lane = static_cast<unsigned>(row) % 32;

        scales[row] = column[lane];
        for (unsigned i = lane + 32; i < tensor_lanes; i += 32)
            if (column[i] != scales[row])
                fail("scales-not-replicated",
                     "tcgen05.mma reads scales in column %u of tensor memory: "
                     "lane %u has 0x%08x, lane %u has 0x%08x",
                     from.first % tensor_columns + unsigned(row) / 32, lane,
                     scales[row], i, column[i]);
    }
}

/* Each block has its rows of A, their scales and those of all of B. */
void multiply(const operation &product)
{
    constexpr int a_bytes = tcgen05_rows * tcgen05_row_bytes;
    int n = static_cast<int>(product.instruction.n);
    std::vector<uint8_t> rows(product.units.size() * shared_unit);
    uint32_t scales_a[tcgen05_rows], scales_b[256];

    for (size_t i = 0; i < product.units.size(); i++)
        memcpy(&rows[i * shared_unit], shared_at(product.units[i]),
               shared_unit);
    for (int i = 0; i < product.ctas; i++) {
        gather_scales(product.scales_a, i, tcgen05_rows, scales_a);
        gather_scales(product.scales_b, i, n, scales_b);
        tcgen05_multiply(
            {n, rows.data() + i * a_bytes,
             rows.data() + product.ctas * a_bytes, scales_a, scales_b,
             product.instruction.ue8m0 != 0,
             product.instruction.a_negate != product.instruction.b_negate,
             product.accumulate},
            columns_of(product.d, i));
    }
}

void happen(const operation &operation)
{
    for (uint32_t unit : operation.units)
        shared_read_check(unit);
    for (int i = 0; operation.what == copying && i < operation.ctas; i++)
        copy_scales(operation, i);
    if (operation.what == multiplying)
        multiply(operation);
    if (operation.what == committing)
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
    for (uint32_t unit : operation.units) {
        cluster_use(shared_rank(unit), end);
        shared_read_begin(unit, end);
    }
    queue_of(m->current->number).push_back(std::move(operation));
}

void add(std::vector<uint32_t> &to, const std::vector<uint32_t> &units)
{
    to.insert(to.end(), units.begin(), units.end());
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

void tcgen05_cp(int ctas, uint32_t address, uint64_t descriptor)
{
    const char *what = "tcgen05.cp";
    unsigned rank = here->rank, end_rank = rank + static_cast<unsigned>(ctas);
    operation copy{};

    tcgen05_check_issuer(ctas, what);
    copy.what = copying;
    copy.ctas = ctas;
    copy.d = tensor_checked(address, 0, 4, what);
    for (; rank < end_rank; rank++)
        add(copy.units, tcgen05_copy_units(rank, descriptor));
    for (uint32_t unit : copy.units)
        shared_read_known(unit);
    moment end = tensor_next_work();
    tensor_copy(ctas, copy.d, end);
    issue(std::move(copy), end);
    maybe_yield();
}

void tcgen05_mma(int ctas, const tcgen05_product &product)
{
    unsigned first = here->rank,
             end_rank = first + static_cast<unsigned>(ctas);
    operation made{};

    tcgen05_check_issuer(ctas, "tcgen05.mma");
    made.what = multiplying;
    made.ctas = ctas;
    made.instruction = tcgen05_checked_instruction(ctas, product.instruction);
    made.accumulate = product.accumulate;
    int n = static_cast<int>(made.instruction.n);
    for (unsigned rank = first; rank < end_rank; rank++)
        add(made.units, tcgen05_operand_units(rank, product.a, tcgen05_rows,
                                              "A of tcgen05.mma"));
    for (unsigned rank = first; rank < end_rank; rank++)
        add(made.units, tcgen05_operand_units(rank, product.b, n / ctas,
                                              "B of tcgen05.mma"));
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
    tensor_product(
        ctas, {made.d, made.scales_a, made.scales_b, made.accumulate}, end);
    issue(std::move(made), end);
    maybe_yield();
}

/* It brings what the thread knows: its copies to shared memory, for one, that
 * the products have read. */
void tcgen05_commit(int ctas, void *pointer, int blocks)
{
    const char *what = "tcgen05.commit";
    operation commit{};

    tcgen05_check_issuer(ctas, what);
    commit.what = committing;
    release(commit.brings);
    moment end = tensor_issued_work();
    commit.brings.learn(end.fact, end.value);
    for (unsigned rank : cluster_ranks(blocks, what)) {
        commit.committed = &barrier_of_rank(pointer, rank, what);
        barrier_check_fenced(*commit.committed, what);
        cluster_use(rank, phase_end(*commit.committed));
        issue(operation(commit), end);
    }
    maybe_yield();
}

} // namespace emu
