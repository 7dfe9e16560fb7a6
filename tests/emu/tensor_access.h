/* SPDX-License-Identifier: MIT */
/* Who reads and writes tensor memory, and whether who comes next may know
 * that this is over. */
#ifndef EMU_TENSOR_ACCESS_H
#define EMU_TENSOR_ACCESS_H

#include "tensor_knowledge.h"
#include "tensor_memory.h"

namespace emu {

/* Accesses by the current thread that end at `end`, at the same place in each
 * of `ctas` blocks. Each fails unless the thread may rely on what came before.
 * A product on the accumulator `d` comes after this thread's earlier products
 * on it. */
struct tensor_product_ranges {
    tensor_range d, scales_a, scales_b;
    bool accumulate;
};
void tensor_product(int ctas, const tensor_product_ranges &ranges, moment end);
void tensor_copy(int ctas, const tensor_range &to, moment end);

/* A load of the current warp; all lanes must know. */
void tensor_load(const tensor_range &from, unsigned quarter, uint32_t access);

/* The current warp takes the columns, or gives them back for good: then it
 * must know that all who used them are done. */
void tensor_begin_use(const tensor_range &columns);
void tensor_end_use(const tensor_range &columns);

} // namespace emu

#endif
