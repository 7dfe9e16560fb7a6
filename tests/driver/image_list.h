/* SPDX-License-Identifier: MIT */
/* Images that no driver should run, and some that it should. */
#ifndef IMAGE_LIST_H
#define IMAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "parts.h"

enum image_fate { IMAGE_ANY, IMAGE_RUNS, IMAGE_REFUSED };

struct image {
    const char *kind;
    const unsigned char *bytes;
    size_t size;
    bool padded;    /* zeros follow; otherwise nothing that may be read */
    bool damaged;
    size_t flipped; /* all bits of this byte, if not 0 */
    enum image_fate fate;
};

/* After nvrtc_kernel_open_compiler(). Without `damaged`: foreign ones only. */
const struct image *image_list(const struct facts *facts, bool damaged,
                               int *count);

/* Writes it into memory of its own, which the process keeps. */
const void *image_place(const struct image *image);

#endif
