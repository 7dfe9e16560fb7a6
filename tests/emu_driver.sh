#!/bin/sh
# SPDX-License-Identifier: MIT
# What the emulated driver does and refuses; what it refuses it says, on
# standard error.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
for test in $JG_DRIVER_TESTS; do
    echo "$test"
    must "$JG_BUILDDIR/$test"
done
echo tests/g_driver # what of it needs no real one
must "$JG_BUILDDIR/tests/g_driver"
# Seeds have styles: nothing before it must, all at once, now and then.
for seed in 4 6 7; do
    JITGEMM_EMU_SEED=$seed
    export JITGEMM_EMU_SEED
    for test in capture contexts graph streams; do
        echo "$test, seed $seed"
        must "$JG_BUILDDIR/tests/e_$test"
    done
done
