/* SPDX-License-Identifier: MIT */
/* The descriptors of block-scaled products into tensor memory. */
#ifndef EMU_TCGEN05_DESCRIPTOR_H
#define EMU_TCGEN05_DESCRIPTOR_H

#include <stdint.h>

#include <vector>

namespace emu {

constexpr int tcgen05_rows = 128;     /* M of a product, in one block */
constexpr int tcgen05_row_bytes = 32; /* of 64 k */

/* PTX ISA 9.7.16.4.3, kinds with block scales. */
struct tcgen05_instruction {
    unsigned b_scale_id, a_format, b_format, a_negate, b_negate;
    unsigned a_major, b_major; /* 1: not k */
    unsigned n, ue8m0, m, a_scale_id, k96;
    unsigned unused; /* bits that must be 0: sparsity and others */
};

/* PTX ISA 9.7.16.4.1. */
struct tcgen05_matrix {
    uint32_t start, leading, stride; /* bytes */
    unsigned version, base_offset, absolute_leading, layout;
    uint64_t unused;
};

tcgen05_instruction tcgen05_split_instruction(uint32_t word);
tcgen05_matrix tcgen05_split_matrix(uint64_t word);

/* Fails unless kind::mxf4nvf4 with block16 can do it in so many blocks. Of a
 * pair only M = 256 is emulated. */
tcgen05_instruction tcgen05_checked_instruction(int ctas, uint32_t word);

/* Addresses, in block `rank`, of 16-byte units of an operand's rows, two a
 * row, and of the 32 rows of a copy, one a row. */
std::vector<uint32_t> tcgen05_operand_units(unsigned rank, uint64_t descriptor,
                                            int rows, const char *what);
std::vector<uint32_t> tcgen05_copy_units(unsigned rank, uint64_t descriptor);

} // namespace emu

#endif
