/* SPDX-License-Identifier: MIT */
/* Sets the fake CUDA libraries up for a test program: a folder of its own,
 * with the fakes under the names that the library looks for, and with the
 * cache in it. */
#ifndef FAKES_H
#define FAKES_H

#include "fake_cuda.h"
#include "fake_nvrtc.h"

struct fakes {
    char folder[256];
    struct fake_cuda *cuda;
    struct fake_nvrtc *nvrtc;
    char old[272]; /* folder of an NVRTC without a build id */
    struct fake_nvrtc *old_nvrtc;
};

/* Ends the program if it cannot. Sets JITGEMM_LIBCUDA, JITGEMM_LIBNVRTC and
 * JITGEMM_CACHE_DIR. */
struct fakes fakes_open(void);
void fakes_close(struct fakes *fakes); /* removes the folder */

#endif
