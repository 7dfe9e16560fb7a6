/* SPDX-License-Identifier: MIT */
/* Who reads and writes tensor memory, and whether who comes next may know
 * that this is over. PTX ISA 9.7.16.6.
 *
 * Of tensor memory a thread knows what it knew at its last
 * fence::after_thread_sync. Others learn of a thread's loads at its next
 * fence::before_thread_sync after the wait::ld, and of its products and copies
 * from a barrier that it committed to. Loads and allocations are numbered a
 * warp, products and copies a thread. */
#ifndef EMU_TENSOR_ACCESS_H
#define EMU_TENSOR_ACCESS_H

#include "machine.h"
#include "tensor_memory.h"

namespace emu {

void tensor_access_begin_block();

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

/* Accesses by the current thread that end at `end`. Each fails unless the
 * thread may rely on what came before. A product on the accumulator `d` comes
 * after this thread's earlier products on it. */
struct tensor_product_ranges {
    tensor_range d, scales_a, scales_b;
    bool accumulate;
};
void tensor_product(const tensor_product_ranges &ranges, moment end);
void tensor_copy(const tensor_range &to, moment end);

/* A load of the current warp; all lanes must know. */
void tensor_load(const tensor_range &from, unsigned quarter, uint32_t access);

/* The current warp takes the columns, or gives them back for good. */
void tensor_begin_use(const tensor_allocation &allocation);
void tensor_end_use(const tensor_allocation &allocation);

} // namespace emu

#endif
