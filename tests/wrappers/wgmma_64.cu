/* SPDX-License-Identifier: MIT */
/* A kernel a width: several in one would make ptxas serialize them. */
#include "wgmma.cuh"

WRAP_WGMMA(64)
