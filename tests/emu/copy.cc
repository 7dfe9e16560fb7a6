/* SPDX-License-Identifier: MIT */
/* Bulk copies and tensor copies to shared memory. Each lands in pieces, in
 * any order; a piece reads its source and counts its bytes when it lands.
 * PTX ISA 9.7.9.25 and 9.7.9.27. */
#include "async.h"
#include "barrier.h"
#include "instructions.h"
#include "machine.h"
#include "shared.h"
#include "swizzle.h"
#include "tensor_map.h"

#include <algorithm>
#include <string.h>

namespace emu {

namespace {

struct copy {
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

void land(const piece &piece)
{
    const copy &copy = *piece.whole;
    unsigned char unit[shared_unit];

    for (uint32_t i = piece.from; i < piece.to; i += shared_unit) {
        read_unit(copy, i, unit);
        shared_land(copy.place(i), unit);
        copy.counter->landed.push_back(copy.place(i));
    }
    barrier_complete(*copy.counter, copy.phase, piece.to - piece.from);
}

struct copies : engine {
    void begin_block() override
    {
        pieces.clear();
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
            fail("unfinished-copy",
                 "the block ended while a copy to shared memory at 0x%x was "
                 "under way",
                 pieces[0].whole->destination);
    }
};

void check_global(const void *address, size_t bytes, const char *what)
{
    int allowed = m->launch->check ? m->launch->check(address, bytes, 0) : 1;

    if (allowed < 0)
        fail("missing-launch-wait",
             "%s reads %zu bytes at %p, which an earlier launch may still be "
             "writing: no griddepcontrol.wait",
             what, bytes, address);
    if (!allowed)
        fail("global-out-of-bounds", "%s reads %zu bytes at %p", what, bytes,
             address);
    if (m->launch->touch)
        m->launch->touch(address, bytes, 0);
}

void check_barrier(const barrier &barrier, const char *what)
{
    if (!barrier.fenced)
        fail("barrier-no-fence",
             "%s counts on barrier 0x%x, whose init was not followed by "
             "fence.mbarrier_init",
             what, barrier.address);
}

/* All at once, or in a few pieces. */
void issue(const copy &copy, uint32_t bytes)
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
    maybe_yield();
}

} // namespace

engine *copy_engine()
{
    static copies engine;

    return &engine;
}

void copy_bulk(void *destination, const void *source, uint32_t bytes,
               void *pointer)
{
    const char *what = "cp.async.bulk";
    barrier &barrier = barrier_at(pointer, what);
    copy copy{};

    if (bytes % 16)
        fail("misaligned", "%s of %u bytes, no multiple of 16", what, bytes);
    if (reinterpret_cast<uintptr_t>(source) % 16)
        fail("misaligned", "%s from %p, no multiple of 16", what, source);
    copy.destination = shared_address(destination);
    shared_check(copy.destination, bytes, 16, what);
    check_barrier(barrier, what);
    check_global(source, bytes, what);
    copy.counter = &barrier;
    copy.phase = barrier.phase;
    copy.source = static_cast<const unsigned char *>(source);
    issue(copy, bytes);
}

/* A map among the kernel's parameters, on the stack here, needs no fence. */
static void check_map(const void *map, const char *what)
{
    const char *stack = reinterpret_cast<const char *>(&map);
    ptrdiff_t distance = static_cast<const char *>(map) - stack;
    auto &acquired = m->current->acquired_maps;

    if (reinterpret_cast<uintptr_t>(map) % 64)
        fail("misaligned", "%s with a tensor map at %p, no multiple of 64",
             what, map);
    if (distance > 0 && distance < 65536)
        return;
    check_global(map, EMU_TENSOR_MAP_BYTES, what);
    if (std::find(acquired.begin(), acquired.end(), map) == acquired.end())
        fail("tensormap-no-fence",
             "%s with a tensor map at %p that the thread has not acquired",
             what, map);
}

void fence_proxy_tensormap_acquire(const void *map)
{
    if (reinterpret_cast<uintptr_t>(map) % 64)
        fail("misaligned",
             "fence.proxy.tensormap of a map at %p, no multiple of 64", map);
    m->current->acquired_maps.push_back(map);
}

void copy_tensor(void *destination, const void *map, const int *coordinates,
                 int rank, void *pointer)
{
    const char *what = "cp.async.bulk.tensor";
    barrier &barrier = barrier_at(pointer, what);
    copy copy{};

    check_map(map, what);
    if (emu_tensor_map_decode(map, &copy.map))
        fail("bad-tensor-map", "%s: no map at %p", what, map);
    if (copy.map.rank != static_cast<uint32_t>(rank))
        fail("bad-tensor-map", "%s: a map of rank %u, and %d coordinates",
             what, copy.map.rank, rank);
    uint32_t rows = 1;
    for (int i = 0; i < rank; i++)
        copy.at[i] = coordinates[i];
    for (int i = 1; i < rank; i++)
        rows *= copy.map.box[i];
    copy.destination = shared_address(destination);
    shared_check(copy.destination, rows * row_bytes(copy.map), 128, what);
    check_barrier(barrier, what);
    for (uint32_t i = 0; i < rows; i++) {
        const unsigned char *row = row_source(copy, i);
        int64_t first, end = row_range(copy, &first);

        if (row && first < end)
            check_global(row + first, static_cast<size_t>(end - first), what);
    }
    copy.counter = &barrier;
    copy.phase = barrier.phase;
    issue(copy, rows * row_bytes(copy.map));
}

} // namespace emu
