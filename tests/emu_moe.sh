#!/bin/sh
# SPDX-License-Identifier: MIT
# What is around the products of experts, on the emulated device.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
must "$JG_BUILDDIR/tests/g_moe" small
