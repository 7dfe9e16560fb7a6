#!/bin/sh
# SPDX-License-Identifier: MIT
# examples/jitgemm.py, on the emulated device.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
python3 -c 'import ctypes' 2>/dev/null || { echo "no python3"; exit 77; }
JITGEMM_LIBRARY=$JG_BUILDDIR/.libs/libjitgemm.so.0
PYTHONDONTWRITEBYTECODE=1
export JITGEMM_LIBRARY PYTHONDONTWRITEBYTECODE
must python3 "$JG_SRCDIR/tests/python_experts.py" "$JITGEMM_LIBCUDA"
