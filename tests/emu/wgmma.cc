/* SPDX-License-Identifier: MIT */
/* Matrix products of a warpgroup and their order. PTX ISA 9.7.15.5.
 *
 * The warps of a warpgroup need not come to an instruction together, but all
 * come to the same ones. A product is issued when the fourth warp has come,
 * and reads its operands and computes at some time before a wait that covers
 * it. From its issue until that wait its accumulators hold poison, and its A
 * registers and shared memory must not change. */
#include "wgmma.h"
#include "async.h"
#include "half.h"
#include "instructions.h"
#include "machine.h"
#include "order.h"
#include "registers.h"
#include "shared.h"
#include "wgmma_accumulator.h"

#include <deque>

#include <string.h>

namespace emu {

namespace {

constexpr unsigned warps = warpgroup_threads / warp_threads;
constexpr unsigned all_warps = (1 << warps) - 1;
struct product {
    std::shared_ptr<accumulator> d;
    bool bf16, a_in_registers;
    size_t b_first; /* of the units */
    const void *a[warpgroup_threads];
    uint32_t a_words[warpgroup_threads][4]; /* at the issue */
    unsigned issued, covered;               /* by these warps */
    std::vector<uint32_t> units;            /* of A, if there, and of B */
};

struct warp_part {
    uint64_t products = 0;
    std::vector<uint64_t> groups; /* products up to each commit */
    register_arrays registers;
};

struct warpgroup {
    unsigned fact; /* its finished products */
    warp_order<warps> order;
    std::deque<product> products; /* that no wait of all warps covers */
    uint64_t products_before = 0;
    uint64_t computed = 0;
    std::vector<std::shared_ptr<accumulator>> accumulators; /* in use */
    warp_part parts[warps];
    std::vector<thread *> waiting;

    product &at(uint64_t number)
    {
        return products[number - products_before];
    }
    bool can_compute() const
    {
        return computed < products_before + products.size() &&
               products[computed - products_before].issued == all_warps;
    }
};

std::vector<warpgroup> groups; /* of the block */

/* The warp of the current thread, in its warpgroup. */
struct place_in_group {
    warpgroup &group;
    warp &lanes;
    unsigned index; /* of the warp in the warpgroup */
    warp_part &part;

    void come(const char *name, uint64_t x, uint64_t y) const
    {
        group.order.come(index, name, x, y);
    }
    unsigned fact() const
    {
        return group.fact;
    }
};

place_in_group current_place()
{
    unsigned warp = m->current->number / warp_threads;

    if (m->block_threads % warpgroup_threads)
        fail("bad-launch",
             "wgmma in a block of %u threads, not of whole "
             "warpgroups",
             m->block_threads);
    warpgroup &group = groups[warp / warps];
    return {group, m->warps[warp], warp % warps, group.parts[warp % warps]};
}

/* The accumulators that the lanes name, if they are in use. */
std::shared_ptr<accumulator> find(const place_in_group &place, int n)
{
    const float *first =
        static_cast<const float *>(lane(place.lanes, 0).operand[0]);

    for (const auto &d : place.group.accumulators) {
        const float *used = d->registers[place.index * warp_threads];

        if (d->returned & 1u << place.index || !used)
            continue;
        if (used == first && d->n == n)
            return d;
        if (used < first + n / 2 && first < used + d->n / 2)
            fail("accumulator-changed",
                 "wgmma of width %d on part of the accumulators of an "
                 "unfinished wgmma of width %d",
                 n, d->n);
    }
    return nullptr;
}

std::shared_ptr<accumulator> use_accumulators(const place_in_group &place,
                                              product &product, int n)
{
    std::shared_ptr<accumulator> d = find(place, n);

    if (!product.d && d) {
        product.d = d;
    } else if (!product.d) {
        product.d = std::make_shared<accumulator>();
        product.d->n = n;
        product.d->value.resize(static_cast<size_t>(wgmma_rows * n));
        place.group.accumulators.push_back(product.d);
    }
    if (!product.d->registers[place.index * warp_threads] && !d) {
        product.d->take(place.lanes, place.index, place.part.registers);
    } else if (product.d != d) {
        fail("unequal-arguments",
             "the warps of a warpgroup name different accumulators");
    }
    product.d->last[place.index] = place.part.products;
    return product.d;
}

product make_product(const wgmma_operation &from)
{
    product made{};

    made.bf16 = from.bf16;
    made.a_in_registers = from.a != nullptr;
    if (!from.a)
        made.units = wgmma_units(from.a_descriptor, wgmma_rows, "A of wgmma");
    made.b_first = made.units.size();
    for (uint32_t unit : wgmma_units(from.b_descriptor, from.n, "B of wgmma"))
        made.units.push_back(unit);
    return made;
}

void issue(const product &product, moment end)
{
    for (uint32_t unit : product.units)
        shared_read_begin(unit, end);
}

void check_fragment(const product &product, unsigned thread)
{
    if (product.a_in_registers &&
        memcmp(product.a[thread], product.a_words[thread],
               sizeof product.a_words[thread]))
        fail("fragment-changed",
             "lane %u of warp %u of a warpgroup wrote A's registers before a "
             "wgmma.wait_group that covers the wgmma",
             thread % warp_threads, thread / warp_threads);
}

/* A as 64 rows of 16. Register i of lane 4 g + c: row g + 8 (i % 2), k from
 * 2c + 8 (i / 2). */
void gather_a(const product &product, uint16_t *a)
{
    for (size_t i = 0; i < product.b_first; i++)
        memcpy(a + 8 * i, shared_at(product.units[i]), shared_unit);
    for (unsigned thread = 0;
         thread < warpgroup_threads && product.a_in_registers; thread++) {
        unsigned lane = thread % warp_threads;

        check_fragment(product, thread);
        for (unsigned i = 0; i < 4; i++) {
            unsigned row = thread / warp_threads * 16 + lane / 4 + i % 2 * 8;

            memcpy(a + row * wgmma_k + lane % 4 * 2 + i / 2 * 8,
                   &product.a_words[thread][i], 4);
        }
    }
}

void compute(warpgroup &group)
{
    product &product = group.at(group.computed);
    uint16_t a[wgmma_rows * wgmma_k];
    std::vector<uint16_t> b;

    for (uint32_t unit : product.units)
        shared_read_check(unit);
    gather_a(product, a);
    b.resize(8 * (product.units.size() - product.b_first));
    for (size_t i = product.b_first; i < product.units.size(); i++)
        memcpy(&b[8 * (i - product.b_first)], shared_at(product.units[i]),
               shared_unit);
    wgmma_multiply(product.bf16 ? bf16_value : half_value, a, b.data(),
                   product.d->n, product.d->value.data());
    group.computed++;
    for (thread *thread : group.waiting)
        wake(thread);
    group.waiting.clear();
}

/* The warp has waited for the first `count` products. */
void cover(const place_in_group &place, uint64_t count)
{
    warpgroup &group = place.group;

    for (uint64_t i = group.products_before; i < count; i++) {
        product &product = group.at(i);

        if (product.covered & 1u << place.index)
            continue;
        for (unsigned j = 0; j < warp_threads; j++)
            check_fragment(product, place.index * warp_threads + j);
        for (size_t j = 0; !product.covered && j < product.units.size(); j++)
            shared_read_end(product.units[j]);
        product.covered |= 1u << place.index;
    }
    while (!group.products.empty() && group.products[0].covered == all_warps) {
        group.products.pop_front();
        group.products_before++;
    }
    auto &all = group.accumulators;
    for (size_t i = 0; i < all.size(); i++) {
        accumulator &d = *all[i];

        if (!(d.returned & 1u << place.index) &&
            d.registers[place.index * warp_threads] &&
            d.last[place.index] <= count)
            d.give_back(place.lanes, place.index, place.part.registers);
        if (d.returned == all_warps) {
            all[i--] = all.back();
            all.pop_back();
        }
    }
}

struct matrix_engine : engine {
    void begin_block() override
    {
        groups.clear();
        groups.resize(m->threads_count / warpgroup_threads);
        for (warpgroup &group : groups)
            group.fact = new_fact();
    }
    size_t steps() const override
    {
        size_t count = 0;

        for (const warpgroup &group : groups)
            count += group.can_compute();
        return count;
    }
    void run(size_t step) override
    {
        for (warpgroup &group : groups)
            if (group.can_compute() && !step--) {
                compute(group);
                return;
            }
    }
    void end_block() override
    {
        for (const warpgroup &group : groups)
            if (!group.accumulators.empty())
                fail("missing-wait",
                     "the block ended before a wgmma.wait_group that covers "
                     "all of its products");
    }
};

} // namespace

engine *wgmma_engine()
{
    static matrix_engine engine;

    return &engine;
}

void wgmma_fence()
{
    if (!warp_enter("wgmma.fence"))
        return;
    place_in_group place = current_place();
    place.come("wgmma.fence", 0, 0);
    place.part.registers.fence(place.lanes);
    warp_leave();
}

void wgmma_commit_group()
{
    if (!warp_enter("wgmma.commit_group"))
        return;
    place_in_group place = current_place();
    place.come("wgmma.commit_group", 0, 0);
    place.part.groups.push_back(place.part.products);
    warp_leave();
    maybe_yield();
}

void wgmma_wait_group(int pending)
{
    uint64_t x = static_cast<uint64_t>(pending);

    if (!warp_enter("wgmma.wait_group", x))
        return;
    place_in_group place = current_place();
    place.come("wgmma.wait_group", x, 0);
    size_t commits = place.part.groups.size();
    uint64_t count = commits > x ? place.part.groups[commits - x - 1] : 0;

    while (place.group.computed < count) {
        place.group.waiting.push_back(m->current);
        block("wgmma.wait_group " + std::to_string(pending));
    }
    cover(place, count);
    m->current->knows.learn(place.fact(), static_cast<uint32_t>(count));
    warp_leave();
    maybe_yield();
}

void wgmma_mma(const wgmma_operation &operation)
{
    const uint32_t *a = operation.a;
    const char *name = a ? "wgmma.mma_async with A in registers"
                         : "wgmma.mma_async with A in shared memory";
    /* The bits of n and of the type are unused in a descriptor. */
    uint64_t y = operation.a_descriptor ^
                 static_cast<uint64_t>(operation.n) << 52 ^
                 static_cast<uint64_t>(operation.bf16) << 46;

    m->current->operand[0] = operation.d;
    m->current->operand[1] = a;
    if (!warp_enter(name, operation.b_descriptor, y))
        return;
    place_in_group place = current_place();
    warpgroup &group = place.group;
    place.come(name, operation.b_descriptor, y);

    if (place.part.products == group.products_before + group.products.size())
        group.products.push_back(make_product(operation));
    product &product = group.at(place.part.products++);
    for (uint32_t unit : product.units)
        shared_read_known(unit);
    use_accumulators(place, product, operation.n);
    if (a)
        place.part.registers.check(place.lanes, 1, 4, "A of wgmma");
    for (unsigned i = 0; a && i < warp_threads; i++) {
        unsigned thread = place.index * warp_threads + i;

        product.a[thread] = lane(place.lanes, i).operand[1];
        memcpy(product.a_words[thread], product.a[thread],
               sizeof product.a_words[thread]);
    }
    product.issued |= 1u << place.index;
    if (product.issued == all_warps)
        issue(product,
              {place.fact(), static_cast<uint32_t>(place.part.products)});
    warp_leave();
    maybe_yield();
}

} // namespace emu
