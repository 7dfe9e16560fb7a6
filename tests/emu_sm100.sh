#!/bin/sh
# SPDX-License-Identifier: MIT
# Blackwell: kernels made ahead where there is neither GPU nor driver are all
# that the emulated B200 needs for the public cases; then other types and maps.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
JITGEMM_CACHE_DIR=$JG_BUILDDIR/tests/emu_work/sm100_cache
JITGEMM_EMU_DEVICE=b200
export JITGEMM_CACHE_DIR JITGEMM_EMU_DEVICE
rm -rf "$JITGEMM_CACHE_DIR"

JITGEMM_LIBCUDA=/nowhere "$JG_BUILDDIR/jitgemm-warm" --arch sm_100a \
    --problem 96,128x256x512
JITGEMM_MODE=strict must "$JG_BUILDDIR/tests/g_gemm" public
must "$JG_BUILDDIR/tests/g_gemm" variants
