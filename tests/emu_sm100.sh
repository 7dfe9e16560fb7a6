#!/bin/sh
# SPDX-License-Identifier: MIT
# Blackwell: kernels made ahead for an architecture that is not here, found by
# the emulated B200, and the public cases and other types on it.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
JITGEMM_CACHE_DIR=$JG_BUILDDIR/tests/emu_work/sm100_cache
JITGEMM_EMU_DEVICE=b200
export JITGEMM_CACHE_DIR JITGEMM_EMU_DEVICE
rm -rf "$JITGEMM_CACHE_DIR"

# No driver and no GPU here.
JITGEMM_LIBCUDA=/nowhere "$JG_BUILDDIR/jitgemm-warm" --arch sm_100a \
    --problem 128,128x128,256x512,256
JITGEMM_LOG=3 "$JG_BUILDDIR/tests/g_gemm" public >/dev/null \
    2>"$JG_BUILDDIR/tests/emu_work/sm100_log" || exit 1
grep -q 'sm_100a.*: disk,' "$JG_BUILDDIR/tests/emu_work/sm100_log" ||
    { echo "the kernel made ahead was not found"; exit 1; }

must "$JG_BUILDDIR/tests/g_gemm" public
must "$JG_BUILDDIR/tests/g_gemm" variants
