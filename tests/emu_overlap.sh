#!/bin/sh
# SPDX-License-Identifier: MIT
# A kernel that does not wait for the launch before it is found end to end: the
# emulated driver compiles a changed copy of the kernel texts.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
work=$JG_BUILDDIR/tests/emu_work/overlap
rm -rf "$work"
mkdir -p "$work"
cp -R "$JG_SRCDIR/kernel_src" "$work"
chmod -R u+w "$work"
ln -s "$JG_SRCDIR/tests" "$work/tests"
text=$work/kernel_src/gemm/sm90_nvfp4.cu
grep -q 'griddepcontrol_wait();' "$text"
sed '/griddepcontrol_wait();/d' "$text" >"$work/text"
mv "$work/text" "$text"

JITGEMM_EMU_SEED=4 # nothing happens before it must
export JITGEMM_EMU_SEED
JG_SRCDIR=$work
if "$JG_BUILDDIR/tests/g_gemm" 8 128 256 >"$work/log" 2>&1; then
    echo "nobody noticed"
    exit 1
fi
grep 'missing-launch-wait' "$work/log"
