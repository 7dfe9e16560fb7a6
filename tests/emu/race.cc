/* SPDX-License-Identifier: MIT */
/* Each thread counts what it released; an access carries the count. A thread
 * that knows the count, or a higher one, comes after the access. */
#include "race.h"
#include "machine.h"
#include "shared.h"

namespace emu {

namespace {

constexpr uint16_t nobody = 0xffff;

struct access {
    uint16_t thread;
    uint32_t clock;
};

struct cell {
    access write, read;
    uint32_t more; /* 1 + index of a list of further reads, or 0 */
};

std::vector<cell> cells; /* by shared_index() */
std::vector<std::vector<access>> lists;
std::vector<uint32_t> free_lists;

access now()
{
    return {static_cast<uint16_t>(m->current->number), m->current->clock};
}

bool known(const access &access)
{
    return access.thread == nobody || access.thread == m->current->number ||
           m->current->knows.of(thread_fact(access.thread)) >= access.clock;
}

/* A read of the cell that the current thread does not know of, or null. */
const access *unknown_read(const cell &cell)
{
    if (!known(cell.read))
        return &cell.read;
    if (cell.more)
        for (const access &read : lists[cell.more - 1])
            if (!known(read))
                return &read;
    return nullptr;
}

void forget_reads(cell &cell)
{
    cell.read.thread = nobody;
    if (!cell.more)
        return;
    lists[cell.more - 1].clear();
    free_lists.push_back(cell.more);
    cell.more = 0;
}

void add_read(cell &cell)
{
    if (cell.read.thread == nobody || (!cell.more && known(cell.read))) {
        cell.read = now();
        return;
    }
    if (cell.read.thread == m->current->number) {
        cell.read = now();
        return;
    }
    if (!cell.more) {
        if (free_lists.empty()) {
            lists.emplace_back();
            free_lists.push_back(static_cast<uint32_t>(lists.size()));
        }
        cell.more = free_lists.back();
        free_lists.pop_back();
    }
    /* Who reads again is likely to be who read last. */
    auto &reads = lists[cell.more - 1];
    for (size_t i = reads.size(); i--;)
        if (reads[i].thread == m->current->number) {
            reads[i] = now();
            return;
        }
    reads.push_back(now());
}

template <class F> void for_cells(uint32_t address, size_t bytes, F f)
{
    cell *first = &cells[shared_index(address, 1)];

    for (uint32_t i = 0; i < bytes; i++)
        f(first[i], address + i);
}

} // namespace

void race_begin_block(uint32_t begin, uint32_t end)
{
    cells.resize(m->ranks * shared_window_bytes);
    for_cells(begin, end - begin, [](cell &cell, uint32_t) {
        cell = {{nobody, 0}, {nobody, 0}, 0};
    });
    lists.clear();
    free_lists.clear();
}

void race_read(uint32_t address, size_t bytes)
{
    for_cells(address, bytes, [](cell &cell, uint32_t at) {
        if (!known(cell.write))
            fail("race",
                 "a thread reads shared memory at 0x%x, which thread %u "
                 "wrote, with nothing between that orders them",
                 at, cell.write.thread);
        add_read(cell);
    });
}

void race_write(uint32_t address, size_t bytes)
{
    for_cells(address, bytes, [](cell &cell, uint32_t at) {
        const access *read = unknown_read(cell);

        if (read || !known(cell.write))
            fail("race",
                 "a thread writes shared memory at 0x%x, which thread %u %s, "
                 "with nothing between that orders them",
                 at, read ? read->thread : cell.write.thread,
                 read ? "read" : "wrote");
        forget_reads(cell);
        cell.write = now();
    });
}

void race_async_read(uint32_t address, size_t bytes)
{
    for_cells(address, bytes, [](cell &cell, uint32_t at) {
        if (!known(cell.write))
            fail("race",
                 "a matrix product reads shared memory at 0x%x, which thread "
                 "%u wrote, with nothing between that orders them",
                 at, cell.write.thread);
    });
}

void race_async_write(uint32_t address, size_t bytes)
{
    for_cells(address, bytes, [](cell &cell, uint32_t at) {
        const access *read = unknown_read(cell);

        if (read || !known(cell.write))
            fail("early-overwrite",
                 "a copy writes shared memory at 0x%x, which thread %u %s, "
                 "with nothing between that orders them",
                 at, read ? read->thread : cell.write.thread,
                 read ? "read" : "wrote");
        forget_reads(cell);
        cell.write.thread = nobody;
    });
}

} // namespace emu
