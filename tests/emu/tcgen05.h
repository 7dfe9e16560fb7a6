/* SPDX-License-Identifier: MIT */
/* Tensor memory's instructions of whole warps keep some state of a block. */
#ifndef EMU_TCGEN05_H
#define EMU_TCGEN05_H

namespace emu {

struct engine;
engine *tcgen05_engine();

void tcgen05_warps_begin_block();
/* All threads have ended. */
void tcgen05_warps_end_block();

} // namespace emu

#endif
