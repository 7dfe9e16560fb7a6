#!/bin/sh
# SPDX-License-Identifier: MIT
# Conversions on the emulated devices.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
# Kernels compile for longer than they run.
JITGEMM_EMU_OPTIMIZE=-O0
export JITGEMM_EMU_OPTIMIZE
for JITGEMM_EMU_DEVICE in h200 b200; do
    export JITGEMM_EMU_DEVICE
    must "$JG_BUILDDIR/tests/g_quantize" small
    must "$JG_BUILDDIR/tests/g_quantize_bad" small
done
