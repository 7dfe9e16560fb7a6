#!/bin/sh
# SPDX-License-Identifier: MIT
# MXFP4 weights on the emulated devices.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
for JITGEMM_EMU_DEVICE in h200 b200; do
    export JITGEMM_EMU_DEVICE
    must "$JG_BUILDDIR/tests/g_mxfp4" small
done
