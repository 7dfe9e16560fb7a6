#!/bin/sh
# SPDX-License-Identifier: MIT
# Examples, on the emulated device.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
must "$JG_BUILDDIR/examples/grouped_gemm" 0
must "$JG_BUILDDIR/examples/embedding"
