/* SPDX-License-Identifier: MIT */
/* Tensor maps in global memory: who edits them, whose copies may still read
 * them, and who has acquired which edits. A thread edits a map when it knows
 * that all copies with it are done, from their barriers or, of its own, from
 * a wait_group.read. It releases the edits; who then learns of that and
 * acquires the map may use it. */
#ifndef EMU_MAP_EDITS_H
#define EMU_MAP_EDITS_H

#include "knowledge.h"

namespace emu {

void map_edits_begin_block();

/* Fails unless the current thread may use the map. */
void map_check_use(const void *map, const char *what);

/* The current thread's `number`-th copy reads the map until then. */
void map_used(const void *map, uint32_t number, moment end);

/* The current thread knows that its copies up to that one read no more. */
void map_reads_done(uint32_t number);

} // namespace emu

#endif
