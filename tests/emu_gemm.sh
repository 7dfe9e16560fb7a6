#!/bin/sh
# SPDX-License-Identifier: MIT
# The public cases, end to end on the emulated device; then other types of C.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
must "$JG_BUILDDIR/tests/g_gemm" public
# Kernels that compile for longer than they run.
JITGEMM_EMU_OPTIMIZE=-O0
export JITGEMM_EMU_OPTIMIZE
must "$JG_BUILDDIR/tests/g_gemm" variants
