/* SPDX-License-Identifier: MIT */
/* cta_group: whether a kernel's instructions on tensor memory are for one
 * block or for a pair, ranks 2i and 2i + 1, of which the even one leads. PTX
 * ISA 9.7.16.5, 9.7.16.7. */
#ifndef EMU_TCGEN05_PAIR_H
#define EMU_TCGEN05_PAIR_H

#include <stdint.h>

namespace emu {

void tcgen05_pairs_begin();

/* Fails unless all of the kernel's instructions name that group, and the
 * cluster has pairs. */
void tcgen05_check_group(int ctas, const char *what);
/* And unless the current thread may issue for that group, both of whose blocks
 * must have begun. */
void tcgen05_check_issuer(int ctas, const char *what);

/* By the last lane of a warp of each block of a pair. True for the second,
 * which does what both want and calls tcgen05_part(result); the first returns
 * after that, with false and the result. */
bool tcgen05_meet(const char *what, uint64_t argument, unsigned *result);
void tcgen05_part(unsigned result);

} // namespace emu

#endif
