/* SPDX-License-Identifier: MIT */
/* The shared memory of a cluster's blocks, and what is known of every 16-byte
 * unit of it: the asynchronous reads and writes under way, and the generic
 * writes that the asynchronous proxy may not see yet. An address has the rank
 * of its block from bit 24 up.
 *
 * Generic accesses are plain C++: access.cc sees them only in kernels that
 * were compiled for it. A second copy of the memory tells what others changed.
 */
#ifndef EMU_SHARED_H
#define EMU_SHARED_H

#include "knowledge.h"

#include <stddef.h>
#include <stdint.h>

namespace emu {

constexpr size_t shared_most_bytes = 227 << 10; /* sm_90, sm_100 */
constexpr size_t shared_unit = 16;
constexpr size_t shared_window_bytes = shared_most_bytes + 2048;
constexpr unsigned shared_rank_bit = 24;

inline unsigned shared_rank(uint32_t address)
{
    return address >> shared_rank_bit;
}

/* The same place in another block's memory. */
inline uint32_t shared_of_rank(uint32_t address, unsigned rank)
{
    return (address & ((1u << shared_rank_bit) - 1)) | rank << shared_rank_bit;
}

/* Of a unit or a byte among those of all blocks. */
inline size_t shared_index(uint32_t address, size_t size)
{
    return (shared_rank(address) * shared_window_bytes +
            shared_of_rank(address, 0)) /
           size;
}

void shared_begin_launch();
void shared_begin_block();
void shared_end_block();
/* The thread ran on its own since the last call. */
void shared_thread_ran(unsigned thread);

/* Whether a host address is in a window or around it. */
bool shared_is_near(const void *pointer);

/* A plain access by the current thread, which is about to happen. */
void shared_access(const void *pointer, size_t bytes, bool write);
/* The kernel is compiled to say them all. */
void shared_see_accesses();

/* The memory at an address of any block. */
unsigned char *shared_at(uint32_t address);

/* Fails unless the bytes lie in their block's memory, `what` in the report. */
void shared_check(uint32_t address, size_t bytes, size_t alignment,
                  const char *what);

/* A write that is neither generic nor asynchronous: a barrier's word. */
void shared_write(uint32_t address, const void *bytes, size_t count);

/* An asynchronous write of a unit: from its issue, when the bytes become
 * undefined, until `end`. */
void shared_write_begin(uint32_t unit, moment end);
void shared_land(uint32_t unit, const unsigned char *bytes);
void shared_write_end(uint32_t unit);

/* An asynchronous read of a unit, by the current thread and others. Each must
 * know of the end of the last write; from the issue until `end` nothing may
 * change. */
void shared_read_known(uint32_t unit);
void shared_read_begin(uint32_t unit, moment end);
void shared_read_check(uint32_t unit);
void shared_read_end(uint32_t unit);

/* fence.proxy.async of the current thread. It needs shared_track_writers(),
 * which returns true, before the first launch. */
void shared_fence();
bool shared_track_writers();

} // namespace emu

#endif
