/* SPDX-License-Identifier: MIT */
/* A kernel a width, so that each shows alone. */
#include "wgmma.cuh"

WRAP_WGMMA(64)
