/* SPDX-License-Identifier: MIT */
/* Blocks that run together: their barrier, and what they may do to each
 * other's shared memory. A block must know that another has begun before it
 * touches it, and must not end before it knows that what others do to it is
 * over. PTX ISA 9.7.13.3; the CUDA programming guide on distributed shared
 * memory. */
#ifndef EMU_CLUSTER_H
#define EMU_CLUSTER_H

#include "knowledge.h"

#include <stdint.h>

#include <vector>

namespace emu {

constexpr unsigned cluster_most_blocks = 8; /* that every device has */

/* The threads of the cluster are made. */
void cluster_begin();
/* The current thread has ended. */
void cluster_thread_ended();
bool cluster_has_ended(unsigned rank);

/* Fails unless the current thread may touch that block now. */
void cluster_check(unsigned rank, const char *what);
/* It does, until then, or until it releases what it does now. */
void cluster_use(unsigned rank, moment end);
void cluster_use(unsigned rank);

/* The ranks of a mask's bits, or own_block's (instructions.h). Fails where no
 * block of the cluster has one of them. */
std::vector<unsigned> cluster_ranks(int blocks, const char *what);

} // namespace emu

#endif
