/* SPDX-License-Identifier: MIT */
/* The window is mapped once and poisoned for each block. Where a block's part
 * begins in it depends on the seed. */
#include "shared.h"
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
constexpr unsigned char poison = 0xff; /* a NaN in f16, e4m3 and f32 */
constexpr uint16_t nobody = 0xffff, many = 0xfffe;

struct unit {
    uint16_t writes, reads;
    uint16_t writer;      /* of generic bytes not fenced, or nobody */
    moment written, read; /* the last ones end */
};

unsigned char *window; /* as the threads see it */
unsigned char *known;  /* what it held when last looked at */
unit units[window_bytes / shared_unit];
uint32_t first_byte, past_byte; /* of the block's memory in the window */

/* A kernel that never fences needs no knowledge of who wrote; one that does
 * is looked at after every turn of a thread. */
bool track_writers;
bool see_accesses; /* then turns need no look */

unit &unit_at(uint32_t address)
{
    return units[address / shared_unit];
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

    if (!memcmp(window + address, known + address, shared_unit))
        return;
    memcpy(known + address, window + address, shared_unit);
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

void look_everywhere(uint16_t thread)
{
    constexpr uint32_t step = 1024;

    for (uint32_t i = 0; i < window_bytes; i += step)
        if (memcmp(window + i, known + i, step))
            for (uint32_t j = i; j < i + step; j += shared_unit)
                look(j, thread);
}

uint16_t current_writer()
{
    return m->current ? static_cast<uint16_t>(m->current->number) : many;
}

} // namespace

/* The window's addresses and the host's agree modulo 4096. */
void shared_begin_launch()
{
    if (window)
        return;
    void *memory =
        mmap(nullptr, window_bytes + 3 * page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("no-memory", "for shared memory");
    unsigned char *bytes = static_cast<unsigned char *>(memory);
    mprotect(bytes, page, PROT_NONE);
    mprotect(bytes + page + (window_bytes + page - 1) / page * page, page,
             PROT_NONE);
    window = bytes + page;
    known = new unsigned char[window_bytes];
}

void shared_begin_block()
{
    size_t bytes = (m->launch->shared_bytes + shared_unit - 1) / shared_unit *
                   shared_unit;

    /* Where a block's memory begins is not for a kernel to know. */
    first_byte =
        static_cast<uint32_t>(1024 + shared_unit * m->random.below(64));
    past_byte = static_cast<uint32_t>(first_byte + bytes);
    memset(window, poison, window_bytes);
    memset(known, poison, window_bytes);
    for (unit &unit : units)
        unit = {0, 0, nobody, {0, 0}, {0, 0}};
    race_begin_block(first_byte, past_byte);
}

/* What lies around the block's memory is another's. */
void shared_end_block()
{
    for (uint32_t i = 0; i < window_bytes; i++)
        if ((i < first_byte || i >= past_byte) && window[i] != poison)
            fail("shared-out-of-bounds",
                 "a thread wrote shared memory at 0x%x; the block's is 0x%x "
                 "to 0x%x",
                 i, first_byte, past_byte);
}

void shared_thread_ran(unsigned thread)
{
    if (track_writers && !see_accesses)
        look_everywhere(static_cast<uint16_t>(thread));
}

bool shared_is_near(const void *pointer)
{
    const unsigned char *byte = static_cast<const unsigned char *>(pointer);

    return byte >= window - page && byte < window + window_bytes + 2 * page;
}

unsigned char *shared_at(uint32_t address)
{
    return window + address;
}

void shared_check(uint32_t address, size_t bytes, size_t alignment,
                  const char *what)
{
    if (address < first_byte || address > past_byte ||
        bytes > past_byte - address)
        fail("shared-out-of-bounds",
             "%s: %zu bytes at 0x%x; the block's shared memory is 0x%x to "
             "0x%x",
             what, bytes, address, first_byte, past_byte);
    if (address % alignment)
        fail("misaligned", "%s: 0x%x is not a multiple of %zu", what, address,
             alignment);
}

void shared_write(uint32_t address, const void *bytes, size_t count)
{
    /* What threads changed nearby stays theirs. */
    memcpy(window + address, bytes, count);
    memcpy(known + address, bytes, count);
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
    memset(window + address, poison, shared_unit);
    memset(known + address, poison, shared_unit);
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
    uint32_t address = shared_address(pointer);

    shared_check(address, bytes, 1, write ? "a store" : "a load");
    for (size_t i = address / shared_unit * shared_unit; i < address + bytes;
         i += shared_unit)
        check_access(static_cast<uint32_t>(i), write);
    if (!write) {
        race_read(address, bytes);
        return;
    }
    race_write(address, bytes);
    for (size_t i = address / shared_unit;
         i <= (address + bytes - 1) / shared_unit; i++)
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
    return window + first_byte;
}

uint32_t shared_address(const void *pointer)
{
    const unsigned char *byte = static_cast<const unsigned char *>(pointer);

    if (byte < window || byte >= window + window_bytes)
        fail("shared-out-of-bounds", "%p does not point to shared memory",
             pointer);
    return static_cast<uint32_t>(byte - window);
}

} // namespace emu
