#!/bin/sh
# SPDX-License-Identifier: MIT
# Bugs in how Hopper's kernels make the table of experts, on the emulated
# device.
. "$JG_SRCDIR/tests/with_emu.sh"
. "$JG_SRCDIR/tests/with_planted.sh"
must_have_nvrtc
JITGEMM_EMU_DEVICE=h200
JITGEMM_EMU_OPTIMIZE=-O0 # kernels compile for longer than they run
export JITGEMM_EMU_DEVICE JITGEMM_EMU_OPTIMIZE

work=$JG_BUILDDIR/tests/emu_work/own_table
few="$JG_BUILDDIR/tests/g_dependent experts"
bad="$JG_BUILDDIR/tests/g_experts_bad small"
words=': race|failed$|out-of-bounds'
own=sched/own_table.cuh
planted "$words" $own '0,/__syncthreads();/{/__syncthreads();/d;}' $few
planted "$words" $own '/first_scale_atom\[g + 1\]/,/return/{/__syncthreads/d;}' \
    $few
planted "$words" $own 's/count = room ? g + 1 : g;/count = numbers.groups;/' \
    $bad
planted "$words" $own 's/first_atom\[g + 1\] = int(sums\[1\])/&+ 1/' $bad
groups=gemm/sm90_groups.cuh
planted "$words" $groups 's/blockIdx.x == 0 && numbers.fault/false/' $bad
planted "$words" $groups 's/^\( *\)tile.group, full);/\10, full);/' $few
