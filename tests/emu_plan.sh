#!/bin/sh
# SPDX-License-Identifier: MIT
# Graphs, rebinding, threads, captures, on the emulated device.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
must "$JG_BUILDDIR/tests/g_plan" short
