#!/bin/sh
# SPDX-License-Identifier: MIT
# examples/jitgemm.py, on the emulated device. The layer in PyTorch needs a GPU
# and must say so, whether there is a PyTorch or not.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
python3 -c 'import ctypes' 2>/dev/null || { echo "no python3"; exit 77; }
JITGEMM_LIBRARY=$JG_BUILDDIR/.libs/libjitgemm.so.0
PYTHONDONTWRITEBYTECODE=1
export JITGEMM_LIBRARY PYTHONDONTWRITEBYTECODE
must python3 "$JG_SRCDIR/tests/python_experts.py" "$JITGEMM_LIBCUDA"
said=$(CUDA_VISIBLE_DEVICES='' python3 "$JG_SRCDIR/examples/moe_layer.py") ||
    [ $? = 77 ]
[ "${said%%: *}" = skipped ]
