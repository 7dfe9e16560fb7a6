/* SPDX-License-Identifier: MIT */
/* Streams' work. None of it need happen before somebody waits for it, so that
 * a missing wait shows; the seed decides what happens earlier, and in which
 * order streams take turns. */
#ifndef EMU_DRIVER_QUEUE_H
#define EMU_DRIVER_QUEUE_H

#include "objects.h"

namespace emu_driver {

/* A stream handle's stream: alive, or an error with a reason. */
CUresult find_stream(CUstream handle, CUstream *stream);

/* The same, and of the current context. */
CUresult find_own_stream(CUstream handle, CUstream *stream);

/* Adds to what is being captured in the stream, or else to its queue. */
CUresult submit(CUstream stream, operation operation);

/* Adds to the queue. */
void enqueue(CUstream stream, operation operation);

void join(moment *to, const moment &from);
bool has_happened(const moment &when);

/* The caller then knows that it has happened: what is enqueued from now on is
 * ordered after it. */
void wait_for(const moment &when);
void wait_for_context(CUcontext context);

/* For calls that only ask: true if it has happened, now and then after some
 * more work. */
bool poll(const moment &when);

void run_some(); /* or nothing, as the seed has it */

/* A choice of the seed's: below `limit`. */
unsigned choose(size_t limit);
unsigned long long next_seed(); /* of a launch */

} // namespace emu_driver

#endif
