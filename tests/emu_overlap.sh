#!/bin/sh
# SPDX-License-Identifier: MIT
# A kernel that does not wait for the launch before it is found end to end, on
# the emulated device.
. "$JG_SRCDIR/tests/with_emu.sh"
. "$JG_SRCDIR/tests/with_planted.sh"
must_have_nvrtc
JITGEMM_EMU_SEED=4 # nothing happens before it must
export JITGEMM_EMU_SEED

work=$JG_BUILDDIR/tests/emu_work/overlap
planted missing-launch-wait gemm/sm90_nvfp4.cu '/griddepcontrol_wait();/d' \
    "$JG_BUILDDIR/tests/g_gemm" 8 128 256
