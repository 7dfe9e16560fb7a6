/* SPDX-License-Identifier: MIT */
/* The programs of this folder: NAME.cu has one kernel, wrap_NAME. */
#ifndef WRAPPERS_PROGRAMS_H
#define WRAPPERS_PROGRAMS_H

#define WRAPPER_PROGRAMS(_)                                                   \
    _(barrier)                                                                \
    _(cluster)                                                                \
    _(copies)                                                                 \
    _(first)                                                                  \
    _(float)                                                                  \
    _(half)                                                                   \
    _(memory)                                                                 \
    _(registers)                                                              \
    _(second)                                                                 \
    _(sync)                                                                   \
    _(wgmma_8)                                                                \
    _(wgmma_16)                                                               \
    _(wgmma_32)                                                               \
    _(wgmma_48)                                                               \
    _(wgmma_64)                                                               \
    _(wgmma_80)                                                               \
    _(wgmma_96)                                                               \
    _(wgmma_112)                                                              \
    _(wgmma_128)                                                              \
    _(wgmma_160)                                                              \
    _(wgmma_192)                                                              \
    _(wgmma_224)                                                              \
    _(wgmma_256)

#endif
