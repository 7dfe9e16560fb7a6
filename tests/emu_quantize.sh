#!/bin/sh
# SPDX-License-Identifier: MIT
# Conversions on the emulated devices.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
must "$JG_BUILDDIR/tests/g_quantize" small
JITGEMM_EMU_DEVICE=b200 must "$JG_BUILDDIR/tests/g_quantize" small
