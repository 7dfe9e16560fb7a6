/* SPDX-License-Identifier: MIT */
/* The windows, a block's each, are mapped once and poisoned for each cluster.
 * Where a block's part begins in one depends on the seed. */
#include "shared.h"
#include "cluster.h"
#include "instructions.h"
#include "machine.h"
#include "race.h"

#include <string>

#include <string.h>
#include <sys/mman.h>

namespace emu {

namespace {

constexpr size_t page = 4096;
constexpr size_t window_bytes = shared_window_bytes;
constexpr size_t all_bytes = size_t(cluster_most_blocks) << shared_rank_bit;
constexpr unsigned char poison = 0xff; /* a NaN in f16, e4m3 and f32 */
constexpr uint16_t nobody = 0xffff, many = 0xfffe;

struct unit {
    uint16_t writes, reads;
    uint16_t writer;      /* of generic bytes not fenced, or nobody */
    moment written, read; /* the last ones end */
};

unsigned char *windows; /* as the threads see them, at their addresses */
std::vector<unsigned char> known; /* what they held when last looked at */
std::vector<unit> units;
uint32_t first_byte, past_byte; /* of a block's memory in its window */

/* A kernel that never fences needs no knowledge of who wrote; one that does
 * is looked at after every turn of a thread. */
bool track_writers;
bool see_accesses; /* then turns need no look */

unit &unit_at(uint32_t address)
{
    return units[shared_index(address, shared_unit)];
}

unsigned char *known_at(uint32_t address)
{
    return &known[shared_index(address, 1)];
}

void add_writer(unit &unit, uint16_t thread)
{
    unit.writer =
        unit.writer == nobody || unit.writer == thread ? thread : many;
}

/* Notes what changed in a unit as written by that thread. */
void look(uint32_t address, uint16_t thread)
{
    unit &unit = unit_at(address);
    unsigned char *before = known_at(address);

    if (!memcmp(windows + address, before, shared_unit))
        return;
    memcpy(before, windows + address, shared_unit);
    if (unit.writer == nobody || !see_accesses)
        add_writer(unit, thread);
    if (unit.writes)
        fail("early-overwrite",
             "shared memory at 0x%x was written while a copy into it is "
             "under way",
             address);
    if (unit.reads)
        fail("early-overwrite",
             "shared memory at 0x%x was written while a matrix product that "
             "reads it is under way",
             address);
}

/* f(address 0 of each block). */
template <class F> void for_windows(F f)
{
    for (unsigned rank = 0; rank < m->ranks; rank++)
        f(rank << shared_rank_bit);
}

void look_everywhere(uint16_t thread)
{
    constexpr uint32_t step = 1024;

    for_windows([&](uint32_t first) {
        for (uint32_t i = first; i < first + window_bytes; i += step)
            if (memcmp(windows + i, known_at(i), step))
                for (uint32_t j = i; j < i + step; j += shared_unit)
                    look(j, thread);
    });
}

/* Of any block's memory. */
uint32_t address_of(const void *pointer)
{
    const unsigned char *byte = static_cast<const unsigned char *>(pointer);
    uint32_t address = static_cast<uint32_t>(byte - windows);

    if (byte < windows || byte >= windows + all_bytes ||
        shared_rank(address) >= m->ranks ||
        shared_of_rank(address, 0) >= window_bytes)
        fail("shared-out-of-bounds", "%p does not point to shared memory",
             pointer);
    return address;
}

uint16_t current_writer()
{
    return m->current ? static_cast<uint16_t>(m->current->number) : many;
}

} // namespace

/* The windows' addresses and the host's agree modulo 4096. */
void shared_begin_launch()
{
    if (!windows) {
        void *memory =
            mmap(nullptr, all_bytes + page, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED)
            fail("no-memory", "for shared memory");
        windows = static_cast<unsigned char *>(memory) + page;
    }
    for_windows([](uint32_t first) {
        mprotect(windows + first, window_bytes, PROT_READ | PROT_WRITE);
    });
    known.resize(m->ranks * window_bytes);
    units.resize(known.size() / shared_unit);
}

void shared_begin_block()
{
    size_t bytes = (m->launch->shared_bytes + shared_unit - 1) / shared_unit *
                   shared_unit;

    /* Where a block's memory begins is not for a kernel to know. */
    first_byte =
        static_cast<uint32_t>(1024 + shared_unit * m->random.below(64));
    past_byte = static_cast<uint32_t>(first_byte + bytes);
    for_windows(
        [](uint32_t first) { memset(windows + first, poison, window_bytes); });
    memset(known.data(), poison, known.size());
    for (unit &unit : units)
        unit = {0, 0, nobody, {0, 0}, {0, 0}};
    for_windows([](uint32_t first) {
        race_begin_block(first + first_byte, first + past_byte);
    });
}

/* What lies around the block's memory is another's. */
void shared_end_block()
{
    for_windows([](uint32_t first) {
        for (uint32_t i = 0; i < window_bytes; i++)
            if ((i < first_byte || i >= past_byte) &&
                windows[first + i] != poison)
                fail("shared-out-of-bounds",
                     "a thread wrote shared memory at 0x%x; the block's is "
                     "0x%x to 0x%x",
                     first + i, first + first_byte, first + past_byte);
    });
}

void shared_thread_ran(unsigned thread)
{
    if (track_writers && !see_accesses)
        look_everywhere(static_cast<uint16_t>(thread));
}

bool shared_is_near(const void *pointer)
{
    const unsigned char *byte = static_cast<const unsigned char *>(pointer);

    return byte >= windows - page && byte < windows + all_bytes;
}

unsigned char *shared_at(uint32_t address)
{
    return windows + address;
}

void shared_check(uint32_t address, size_t bytes, size_t alignment,
                  const char *what)
{
    uint32_t offset = shared_of_rank(address, 0), first = address - offset;

    if (offset < first_byte || offset > past_byte ||
        bytes > past_byte - offset)
        fail("shared-out-of-bounds",
             "%s: %zu bytes at 0x%x; the block's shared memory is 0x%x to "
             "0x%x",
             what, bytes, address, first + first_byte, first + past_byte);
    if (address % alignment)
        fail("misaligned", "%s: 0x%x is not a multiple of %zu", what, address,
             alignment);
}

void shared_write(uint32_t address, const void *bytes, size_t count)
{
    /* What threads changed nearby stays theirs. */
    memcpy(windows + address, bytes, count);
    memcpy(known_at(address), bytes, count);
}

void shared_write_begin(uint32_t address, moment end)
{
    unit &unit = unit_at(address);

    look(address, current_writer());
    if (unit.reads || !unit.read.known(m->current->knows))
        fail("early-overwrite",
             "a copy writes shared memory at 0x%x; the thread does not know "
             "that the matrix product that reads it is done",
             address);
    if (unit.writes || !unit.written.known(m->current->knows))
        fail("early-overwrite",
             "a copy writes shared memory at 0x%x; the thread does not know "
             "that the last copy to it has landed",
             address);
    race_async_write(address, shared_unit);
    unit.writes++;
    unit.writer = nobody;
    unit.written = end;
    memset(windows + address, poison, shared_unit);
    memset(known_at(address), poison, shared_unit);
}

void shared_land(uint32_t address, const unsigned char *bytes)
{
    look(address, current_writer());
    shared_write(address, bytes, shared_unit);
}

void shared_write_end(uint32_t address)
{
    unit_at(address).writes--;
}

void shared_read_known(uint32_t address)
{
    const unit &unit = unit_at(address);

    if (unit.writes || !unit.written.known(m->current->knows))
        fail("missing-wait",
             "a matrix product reads shared memory at 0x%x; the thread does "
             "not know that the copy to it has landed",
             address);
    race_async_read(address, shared_unit);
}

void shared_read_check(uint32_t address)
{
    const unit &unit = unit_at(address);

    look(address, current_writer());
    if (unit.writer != nobody)
        fail("no-proxy-fence",
             "a matrix product reads shared memory at 0x%x, which %s%s wrote "
             "without a fence.proxy.async after it",
             address, unit.writer == many ? "some threads" : "thread ",
             unit.writer == many ? "" : std::to_string(unit.writer).c_str());
}

void shared_read_begin(uint32_t address, moment end)
{
    shared_read_check(address);
    unit_at(address).reads++;
    unit_at(address).read = end;
}

void shared_read_end(uint32_t address)
{
    unit_at(address).reads--;
}

static void check_access(uint32_t address, bool write)
{
    const unit &unit = unit_at(address);
    const knowledge &knows = m->current->knows;

    if (unit.writes || !unit.written.known(knows))
        fail(write ? "early-overwrite" : "missing-wait",
             "a thread %s shared memory at 0x%x; it does not know that the "
             "copy to it has landed",
             write ? "writes" : "reads", address);
    if (write && (unit.reads || !unit.read.known(knows)))
        fail("early-overwrite",
             "a thread writes shared memory at 0x%x; it does not know that "
             "the matrix product that reads it is done",
             address);
}

void shared_access(const void *pointer, size_t bytes, bool write)
{
    const char *what = write ? "a store" : "a load";
    uint32_t address = address_of(pointer);
    unsigned rank = shared_rank(address);

    shared_check(address, bytes, 1, what);
    if (rank != here->rank) {
        cluster_check(rank, what);
        cluster_use(rank);
    }
    for (size_t i = address / shared_unit * shared_unit; i < address + bytes;
         i += shared_unit)
        check_access(static_cast<uint32_t>(i), write);
    if (!write) {
        race_read(address, bytes);
        return;
    }
    race_write(address, bytes);
    for (size_t i = shared_index(address, shared_unit);
         i <= shared_index(address + uint32_t(bytes) - 1, shared_unit); i++)
        add_writer(units[i], current_writer());
}

void shared_fence()
{
    uint16_t self = current_writer();

    look_everywhere(self);
    for (unit &unit : units)
        if (unit.writer == self || unit.writer == many)
            unit.writer = nobody;
}

void shared_see_accesses()
{
    see_accesses = true;
}

bool shared_track_writers()
{
    return track_writers = true;
}

unsigned char *dynamic_smem()
{
    return windows + shared_of_rank(first_byte, here->rank);
}

uint32_t shared_address(const void *pointer)
{
    uint32_t address = address_of(pointer);

    if (shared_rank(address) != here->rank)
        fail("shared-out-of-bounds",
             "%p points to the shared memory of block %u of the cluster",
             pointer, shared_rank(address));
    return address;
}

} // namespace emu
