#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs that may start while the kernel before them is at work, on the emulated
# devices; and in copies of the kernel texts whose waits are gone, which must
# be noticed.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
JITGEMM_EMU_SEED=4 # nothing happens before it must
JITGEMM_EMU_OPTIMIZE=-O0 # kernels compile for longer than they run
export JITGEMM_EMU_SEED JITGEMM_EMU_OPTIMIZE
for JITGEMM_EMU_DEVICE in h200 b200; do
    export JITGEMM_EMU_DEVICE
    must "$JG_BUILDDIR/tests/g_dependent"
done

work=$JG_BUILDDIR/tests/emu_work/dependent
rm -rf "$work"
mkdir -p "$work"
ln -s "$JG_SRCDIR/tests" "$work/tests"

# Usage: planted DEVICE PART TEXT SED
planted() {
    rm -rf "$work/kernel_src"
    cp -R "$JG_SRCDIR/kernel_src" "$work"
    chmod -R u+w "$work/kernel_src"
    sed "$4" "$JG_SRCDIR/kernel_src/$3" >"$work/kernel_src/$3"
    ! cmp -s "$JG_SRCDIR/kernel_src/$3" "$work/kernel_src/$3" ||
        { echo "$3: nothing to change"; exit 1; }
    if JG_SRCDIR=$work JITGEMM_EMU_DEVICE=$1 \
        "$JG_BUILDDIR/tests/g_dependent" "$2" >"$work/log" 2>&1; then
        echo "$1, $2, $3: nobody noticed"
        exit 1
    fi
    grep -m 1 'missing-launch-wait' "$work/log" ||
        { cat "$work/log"; exit 1; }
}
wait='/griddepcontrol_wait();/d'
planted b200 experts gemm/experts.cu "$wait"
# It alone: the product waits for it, but not for what was before.
planted h200 products gemm/sm90_activations.cu \
    's/sched::awaited(given)/given/'
planted h200 products gemm/sm90_nvfp4.cu \
    '/^__device__ void decode/,/^}/{/griddepcontrol_wait();/d;}'
# All that it uses early was written by the kernels before the one before it.
planted h200 experts sched/table.cuh \
    "/complete(jg_table/,/^}/{$wait;}"
planted h200 products gemm/sm90_nvfp4.cu \
    's/^    if (role == 0) {/    if (*table.groups->alpha == 7) return;\n&/'
planted b200 products gemm/sm100_nvfp4.cu 's/sched::awaited(given)/given/'
for text in quantize blocked_scales combine; do
    planted h200 conversions quant/$text.cu "$wait"
done
