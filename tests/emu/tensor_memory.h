/* SPDX-License-Identifier: MIT */
/* The tensor memory of each block, 128 lanes of 512 columns of 32 bits, and
 * who has allocated which columns. An address has the lane in its upper 16
 * bits and the column in its lower ones. Fresh columns hold poison.
 *
 * Here columns are numbered through the cluster: those of block r begin at
 * 512 * r. A pair's allocations lie at the same place in both blocks. */
#ifndef EMU_TENSOR_MEMORY_H
#define EMU_TENSOR_MEMORY_H

#include <stdint.h>

namespace emu {

constexpr unsigned tensor_lanes = 128, tensor_columns = 512;
constexpr unsigned tensor_quarters = 4; /* lanes that one warp reaches */

struct tensor_allocation {
    unsigned first, columns; /* 0 columns: none */
    unsigned warp;
    uint32_t access; /* its number among the warp's: tensor_knowledge.h */
};

/* Columns next to each other. */
struct tensor_range {
    unsigned first, count;
};

void tensor_begin_block();

/* The first column of the current thread's block. */
unsigned tensor_first_column();

/* [column][lane]: columns from that one on. */
uint32_t (*tensor_at(unsigned column))[tensor_lanes];

/* Takes free columns from block `rank`, and from the next if `ctas` is 2, at
 * either end as the seed has it. False if there are none. *place is where, in
 * each block. */
bool tensor_take(unsigned rank, unsigned ctas, unsigned columns,
                 unsigned *place);
void tensor_give_back(tensor_allocation *allocation);

/* The allocation that a column belongs to, or null. */
tensor_allocation *tensor_owner(unsigned column);

/* The columns at an address of lane `lane`, in the current block. Fails unless
 * they are all of one allocation, `what` in the report. */
tensor_range tensor_checked(uint32_t address, unsigned lane, unsigned count,
                            const char *what);

} // namespace emu

#endif
