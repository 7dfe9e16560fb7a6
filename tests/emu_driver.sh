#!/bin/sh
# SPDX-License-Identifier: MIT
# What the emulated driver refuses; what it refuses it says, on standard error.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
must "$JG_BUILDDIR/tests/e_driver"
