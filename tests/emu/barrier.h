/* SPDX-License-Identifier: MIT */
/* Shared-memory barriers with transaction counts. Their state is kept here;
 * the word in shared memory only shows whether it still is a barrier. */
#ifndef EMU_BARRIER_H
#define EMU_BARRIER_H

#include "knowledge.h"

#include <stdint.h>

#include <string>
#include <vector>

namespace emu {

struct thread;

struct barrier {
    uint32_t address;
    uint32_t count, pending; /* arrivals, of a phase and still to come */
    int64_t bytes = 0;       /* expected less those that have landed */
    uint64_t phase = 0;      /* how many have completed */
    bool fenced = false;     /* its init is visible to copies */
    const thread *initializer;
    std::vector<thread *> waiting;
    std::vector<uint32_t> landed; /* units written in this phase */
    unsigned fact;
    knowledge gathered; /* of all that arrived */
    knowledge released; /* of those in completed phases */
};

/* The end of the phase that is running. */
inline moment phase_end(const barrier &barrier)
{
    return {barrier.fact, static_cast<uint32_t>(1 + barrier.phase + 1)};
}

void barriers_begin_block();

/* The barrier at a pointer into shared memory, or at the same place of another
 * block of the cluster, or an error. */
barrier &barrier_at(const void *pointer, const char *instruction);
barrier &barrier_of_rank(const void *pointer, unsigned rank,
                         const char *instruction);

/* Fails unless asynchronous work may arrive at it. */
void barrier_check_fenced(const barrier &barrier, const char *what);

/* One arrival, of who knows that. */
void barrier_arrive(barrier &barrier, const knowledge &brings);

/* Bytes of a copy that was issued in `phase` have landed in `unit`. */
void barrier_complete(barrier &barrier, uint64_t phase, uint32_t bytes);

std::string barrier_text(const barrier &barrier);

} // namespace emu

#endif
