/* SPDX-License-Identifier: MIT */
/* Bulk copies and tensor copies to shared memory. Each lands in pieces, in
 * any order; a piece reads its source and counts its bytes when it lands.
 * PTX ISA 9.7.9.25 and 9.7.9.27. */
#include "async.h"
#include "barrier.h"
#include "cluster.h"
#include "global.h"
#include "instructions.h"
#include "machine.h"
#include "map_edits.h"
#include "shared.h"
#include "swizzle.h"
#include "tensor_map.h"

#include <algorithm>
#include <string.h>

namespace emu {

namespace {

struct copy {
    unsigned thread; /* that issued it, as its number-th */
    uint32_t number;
    uint32_t destination;
    barrier *counter;
    uint64_t phase;              /* of the barrier at the issue */
    const unsigned char *source; /* null: the box of a map */
    emu_tensor_map map;
    int64_t at[EMU_TENSOR_RANKS];

    uint32_t place(uint32_t offset) const
    {
        return source ? destination + offset
                      : swizzle(destination + offset, map.swizzle);
    }
};

struct piece {
    std::shared_ptr<const copy> whole;
    uint32_t from, to; /* bytes of it, whole units */
};

std::vector<piece> pieces; /* that have not landed */

struct issuer {
    uint32_t copies = 0;
    std::vector<uint32_t> groups; /* copies up to each commit */
};
std::vector<issuer> issuers;   /* each thread */
std::vector<thread *> waiting; /* for sources to be read */

/* Element 0 of a row of the box, or null outside the tensor. */
const unsigned char *row_source(const copy &copy, uint32_t row)
{
    const emu_tensor_map &map = copy.map;
    uint64_t address = map.address;

    for (uint32_t i = 1; i < map.rank; i++) {
        int64_t at = copy.at[i] + row % map.box[i];

        row /= map.box[i];
        if (at < 0 || static_cast<uint64_t>(at) >= map.extent[i])
            return nullptr;
        address += static_cast<uint64_t>(at) * map.stride[i - 1];
    }
    return reinterpret_cast<const unsigned char *>(
        static_cast<uintptr_t>(address));
}

uint32_t row_bytes(const emu_tensor_map &map)
{
    return map.box[0] * map.element_bytes;
}

/* The bytes of a row that exist: from *first up to the result. */
int64_t row_range(const copy &copy, int64_t *first)
{
    int64_t element = copy.map.element_bytes;
    int64_t bytes = static_cast<int64_t>(copy.map.extent[0]) * element;

    *first = std::max<int64_t>(copy.at[0] * element, 0);
    return std::min<int64_t>(copy.at[0] * element + row_bytes(copy.map),
                             bytes);
}

void read_unit(const copy &copy, uint32_t offset, unsigned char *unit)
{
    if (copy.source) {
        memcpy(unit, copy.source + offset, shared_unit);
        return;
    }
    memset(unit, 0, shared_unit);
    const unsigned char *row = row_source(copy, offset / row_bytes(copy.map));
    int64_t first, end = row_range(copy, &first);
    int64_t begin =
        copy.at[0] * copy.map.element_bytes + offset % row_bytes(copy.map);

    if (!row)
        return;
    first = std::max(first, begin);
    end = std::min<int64_t>(end, begin + int64_t(shared_unit));
    if (first < end)
        memcpy(unit + (first - begin), row + first,
               static_cast<size_t>(end - first));
}

[[noreturn]] void fail_unfinished(const copy &copy)
{
    fail("unfinished-copy",
         "the block ended while a copy to shared memory at 0x%x was under "
         "way",
         copy.destination);
}

void land(const piece &piece)
{
    const copy &copy = *piece.whole;
    unsigned char unit[shared_unit];

    if (cluster_has_ended(shared_rank(copy.destination)))
        fail_unfinished(copy);
    for (uint32_t i = piece.from; i < piece.to; i += shared_unit) {
        read_unit(copy, i, unit);
        shared_land(copy.place(i), unit);
        copy.counter->landed.push_back(copy.place(i));
    }
    barrier_complete(*copy.counter, copy.phase, piece.to - piece.from);
    for (thread *thread : waiting)
        wake(thread);
    waiting.clear();
}

struct copies : engine {
    void begin_block() override
    {
        pieces.clear();
        waiting.clear();
        issuers.clear();
        issuers.resize(m->threads_count);
        map_edits_begin_block();
    }
    size_t steps() const override
    {
        return pieces.size();
    }
    void run(size_t step) override
    {
        piece piece = pieces[step];

        pieces[step] = pieces.back();
        pieces.pop_back();
        land(piece);
    }
    void end_block() override
    {
        if (!pieces.empty())
            fail_unfinished(*pieces[0].whole);
    }
};

/* All at once, or in a few pieces. */
void issue_one(const copy &copy, uint32_t bytes)
{
    auto shared = std::make_shared<const struct copy>(copy);
    uint32_t pieces_count = 1 + m->random.below(3), from = 0;

    for (uint32_t i = 0; i < bytes; i += shared_unit)
        shared_write_begin(copy.place(i), phase_end(*copy.counter));
    for (uint32_t i = 1; i <= pieces_count; i++) {
        uint32_t to = static_cast<uint32_t>(bytes / shared_unit * i /
                                            pieces_count * shared_unit);

        if (from < to)
            pieces.push_back({shared, from, to});
        from = to;
    }
}

/* To every block that it names. */
void issue(copy &copy, const copy_target &to, uint32_t bytes, const void *map,
           const char *what)
{
    uint32_t destination = copy.destination;

    copy.thread = m->current->number;
    copy.number = ++issuers[copy.thread].copies;
    for (unsigned rank : cluster_ranks(to.blocks, what)) {
        unsigned counting = to.pair ? rank & ~1u : rank;

        cluster_check(rank, what);
        copy.counter = &barrier_of_rank(to.barrier, counting, what);
        copy.phase = copy.counter->phase;
        copy.destination = shared_of_rank(destination, rank);
        barrier_check_fenced(*copy.counter, what);
        cluster_use(rank, phase_end(*copy.counter));
        cluster_use(counting, phase_end(*copy.counter));
        if (map)
            map_used(map, copy.number, phase_end(*copy.counter));
        issue_one(copy, bytes);
    }
    maybe_yield();
}

} // namespace

engine *copy_engine()
{
    static copies engine;

    return &engine;
}

void copy_bulk(const copy_target &to, const void *source, uint32_t bytes)
{
    const char *what = "cp.async.bulk";
    copy copy{};

    if (bytes % 16)
        fail("misaligned", "%s of %u bytes, no multiple of 16", what, bytes);
    if (reinterpret_cast<uintptr_t>(source) % 16)
        fail("misaligned", "%s from %p, no multiple of 16", what, source);
    copy.destination = shared_address(to.destination);
    shared_check(copy.destination, bytes, 16, what);
    check_global(source, bytes, false, what);
    copy.source = static_cast<const unsigned char *>(source);
    issue(copy, to, bytes, nullptr, what);
}

void copy_tensor(const copy_target &to, const void *map,
                 const int *coordinates, int rank)
{
    const char *what = "cp.async.bulk.tensor";
    copy copy{};

    map_check_use(map, what);
    if (emu_tensor_map_decode(map, &copy.map))
        fail("bad-tensor-map", "%s: no map at %p", what, map);
    if (copy.map.rank != static_cast<uint32_t>(rank))
        fail("bad-tensor-map", "%s: a map of rank %u, and %d coordinates",
             what, copy.map.rank, rank);
    if (coordinates[0] * static_cast<int>(copy.map.element_bytes) % 16)
        fail("misaligned", /* an illegal instruction on an H200 */
             "%s from element %d of a row, %u bytes each, is not a multiple "
             "of 16 bytes",
             what, coordinates[0], copy.map.element_bytes);
    uint32_t rows = 1;
    for (int i = 0; i < rank; i++)
        copy.at[i] = coordinates[i];
    for (int i = 1; i < rank; i++)
        rows *= copy.map.box[i];
    copy.destination = shared_address(to.destination);
    shared_check(copy.destination, rows * row_bytes(copy.map), 128, what);
    for (uint32_t i = 0; i < rows; i++) {
        const unsigned char *row = row_source(copy, i);
        int64_t first, end = row_range(copy, &first);

        if (row && first < end)
            check_global(row + first, static_cast<size_t>(end - first), false,
                         what);
    }
    issue(copy, to, rows * row_bytes(copy.map), map, what);
}

void copy_commit_group()
{
    issuer &self = issuers[m->current->number];

    self.groups.push_back(self.copies);
}

static bool is_read(unsigned thread, uint32_t count)
{
    for (const piece &piece : pieces)
        if (piece.whole->thread == thread && piece.whole->number <= count)
            return false;
    return true;
}

void copy_wait_group_read(int pending)
{
    unsigned thread = m->current->number;
    const auto &groups = issuers[thread].groups;
    size_t left = static_cast<size_t>(pending);
    uint32_t count =
        groups.size() > left ? groups[groups.size() - left - 1] : 0;

    while (!is_read(thread, count)) {
        waiting.push_back(m->current);
        block("cp.async.bulk.wait_group.read " + std::to_string(pending));
    }
    map_reads_done(count);
    maybe_yield();
}

} // namespace emu
