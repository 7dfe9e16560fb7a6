#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs that may start while the kernel before them is at work, on the emulated
# devices; and in copies of the kernel texts whose waits are gone, which must
# be noticed.
. "$JG_SRCDIR/tests/with_emu.sh"
. "$JG_SRCDIR/tests/with_planted.sh"
must_have_nvrtc
JITGEMM_EMU_SEED=4 # nothing happens before it must
JITGEMM_EMU_OPTIMIZE=-O0 # kernels compile for longer than they run
export JITGEMM_EMU_SEED JITGEMM_EMU_OPTIMIZE
for JITGEMM_EMU_DEVICE in h200 b200; do
    export JITGEMM_EMU_DEVICE
    must "$JG_BUILDDIR/tests/g_dependent"
done

work=$JG_BUILDDIR/tests/emu_work/dependent

# Usage: unwaited DEVICE PART TEXT SED
unwaited() {
    planted missing-launch-wait "$3" "$4" \
        env JITGEMM_EMU_DEVICE="$1" "$JG_BUILDDIR/tests/g_dependent" "$2"
}
wait='/griddepcontrol_wait();/d'
unwaited b200 many gemm/experts.cu "$wait"
# It alone: the product waits for it, but not for what was before.
unwaited h200 products gemm/sm90_groups.cuh \
    "/given_groups awaited/,/^    }/{$wait;}"
unwaited h200 products gemm/sm90_nvfp4.cu \
    '/^__device__ void decode/,/^}/{/griddepcontrol_wait();/d;}'
# Products and activations that make the table themselves.
unwaited h200 experts gemm/sm90_groups.cuh "$wait"
# That of many groups; all that the product uses early was written by the
# kernels before the one before it.
unwaited h200 many gemm/experts.cu "$wait"
unwaited h200 many gemm/sm90_groups.cuh \
    "/given_groups complete/,/^    }/{$wait;}"
unwaited h200 products gemm/sm90_nvfp4.cu \
    's/^    if (role == 0) {/    if (*table.groups->alpha == 7) return;\n&/'
unwaited b200 products gemm/sm100_nvfp4.cu 's/sched::awaited(given)/given/'
for text in quantize blocked_scales combine cast; do
    unwaited h200 conversions quant/$text.cu "$wait"
done
