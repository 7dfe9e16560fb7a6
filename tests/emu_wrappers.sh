#!/bin/sh
# SPDX-License-Identifier: MIT
# The test of the wrappers with the emulated device in the GPU's place: the
# emulator against itself. It shows that the test works and that its kernels
# compile and have no races, nothing of the wrappers.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
must "$JG_BUILDDIR/tests/g_wrappers" small
