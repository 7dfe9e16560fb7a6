/* SPDX-License-Identifier: MIT */
/* Parts of g_driver. Each begins in a process that has not opened the driver,
 * with CUDA_MODULE_LOADING set, and returns how that process ends. */
#ifndef PARTS_H
#define PARTS_H

#include <stdbool.h>

struct facts {
    int major, minor; /* compute capability */
    int driver;       /* 13000: CUDA 13.0 */
    bool emulated;
    char name[64];
    const char *loading; /* LAZY or EAGER */
};

/* What may be called while a stream is captured. */
int part_capture(const struct facts *facts);
/* What becomes of damaged and foreign images. */
int part_images(const struct facts *facts);
/* How long loading takes, and what it leaves to the first launch. */
int part_times(const struct facts *facts);
/* What waits for a kernel that is running. */
int part_overlap(const struct facts *facts);

#endif
