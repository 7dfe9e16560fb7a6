/* SPDX-License-Identifier: MIT */
/* What threads may rely on of tensor memory. PTX ISA 9.7.16.6.
 *
 * Of tensor memory a thread knows what it knew at its last
 * fence::after_thread_sync. Others learn of a thread's loads at its next
 * fence::before_thread_sync after the wait::ld, and of its products and copies
 * from a barrier that it committed to. Loads and allocations are numbered a
 * warp, products and copies a thread. */
#ifndef EMU_TENSOR_KNOWLEDGE_H
#define EMU_TENSOR_KNOWLEDGE_H

#include "machine.h"

namespace emu {

void tensor_knowledge_begin_block();

void tensor_fence_before();
void tensor_fence_after();

/* What the current thread issues next, and when that has ended. */
moment tensor_next_work();
/* When all it has issued has ended. */
moment tensor_issued_work();

/* The current warp's next load or allocation, and that it has waited for all
 * so far. By the lane that does a warp-wide instruction, for all. */
uint32_t tensor_next_access();
void tensor_waited(const warp &warp);

struct tensor_warp_access { /* or an allocation */
    unsigned warp;
    uint32_t number;
};

/* What is done to a column, for messages. */
struct tensor_attempt {
    const char *what; /* "tcgen05.cp writes" */
    unsigned column;
    const char *name; /* of the error where the thread knows nothing */
    bool warp_wide;   /* then the warp's own loads are over */
};

/* Fail unless `who` may rely on it that the work, `user` in the report, or
 * the load has ended. */
void tensor_check_work(const thread &who, moment end, const char *user,
                       const tensor_attempt &attempt);
void tensor_check_load(const thread &who, const tensor_warp_access &load,
                       const tensor_attempt &attempt);

} // namespace emu

#endif
