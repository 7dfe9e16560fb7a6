/* SPDX-License-Identifier: MIT */
/* The programs of this folder: NAME.cu has one kernel, wrap_NAME. */
#ifndef WRAPPERS_PROGRAMS_H
#define WRAPPERS_PROGRAMS_H

#define WRAPPER_PROGRAMS(_)                                                   \
    _(barrier)                                                                \
    _(copies)                                                                 \
    _(first)                                                                  \
    _(half)                                                                   \
    _(memory)                                                                 \
    _(registers)                                                              \
    _(second)                                                                 \
    _(sync)                                                                   \
    _(wgmma_8)                                                                \
    _(wgmma_16)                                                               \
    _(wgmma_32)                                                               \
    _(wgmma_64)                                                               \
    _(wgmma_128)                                                              \
    _(wgmma_256)

#endif
