#!/bin/sh
# SPDX-License-Identifier: MIT
# The example, on the emulated device.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
must "$JG_BUILDDIR/examples/grouped_gemm" 0
