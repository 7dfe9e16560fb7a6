/* SPDX-License-Identifier: MIT */
/* Every text of kernel_src, embedded at build time in the order of
 * kernel_src/local.mk. */
#ifndef JG_KERNEL_TEXT_H
#define JG_KERNEL_TEXT_H

#include <stddef.h>

struct jg_kernel_text {
    const char *name; /* as included: "ptx/mbarrier.cuh" */
    const char *text;
};

extern const struct jg_kernel_text jg_kernel_texts[];
extern const size_t jg_kernel_texts_count;

#endif
