#!/bin/sh
# SPDX-License-Identifier: MIT
# The machine code of every kernel has the instructions that it is about, and
# no local memory. Needs NVRTC and a disassembler of the CUDA toolkit.
set -eu
PATH=$PATH:/usr/local/cuda/bin
nvdisasm --version >/dev/null 2>&1 || { echo "no nvdisasm here"; exit 77; }
work=$JG_BUILDDIR/tests/emu_work/sass
rm -rf "$work"
mkdir -p "$work"
status=0
"$JG_BUILDDIR/tests/n_specs" --all "$work" >"$work/log" || status=$?
[ "$status" != 77 ] || { echo "no usable NVRTC"; exit 77; }
[ "$status" = 0 ] || { cat "$work/log"; exit "$status"; }

# Usage: check CUBIN INSTRUCTION...
check() {
    cubin=$1
    shift
    nvdisasm -c "$cubin" >"$cubin.sass"
    for instruction; do
        grep -q " $instruction" "$cubin.sass" ||
            { echo "${cubin##*/}: no $instruction"; status=1; }
    done
    ! grep -E ' (LDL|STL)[. ]' "$cubin.sass" ||
        { echo "${cubin##*/}: local memory"; status=1; }
}

count=0
for cubin in "$work"/*.cubin; do
    count=$((count + 1))
    case $cubin in
    *-sm90_nvfp4-*) check "$cubin" HGMMA UTMALDG UBLKCP USETMAXREG ;;
    *-sm90_activations-*) # those of 16 bits are only put in order
        ! grep -q 'nvfp4 = false' "$cubin" || { check "$cubin" PRMT; continue; }
        check "$cubin" HMUL2 ;;
    *-sm100_nvfp4-*) # products and copies of scales, loads, commits
        check "$cubin" UTCOMMA UTCCP LDTM UTCBAR UTMALDG ;;
    *-quantize-* | *-blocked_scales-* | *-combine-* | *-cast-* | *-experts-*)
        check "$cubin" ;;
    *) echo "$cubin: what is it?"; status=1 ;;
    esac
done
echo "$count kernels"
[ "$count" -gt 30 ] || status=1
exit "$status"
