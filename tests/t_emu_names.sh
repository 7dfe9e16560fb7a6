#!/bin/sh
# SPDX-License-Identifier: MIT
# The emulator's tests/emu/ptx declares what kernel_src/ptx declares: the same
# files, and in each the same functions with the same parameters.
set -eu
cd "${JG_SRCDIR-.}"
status=0

# Usage: names FILE: a function a line, and the widths made by a macro.
names() {
    sed -n 's/^\(EMU_\)*WGMMA(\([0-9]*\).*/width \2/p' "$1"
    sed -e 's,/\*[^*]*\*/,,g' -e '/\/\*/,/\*\//d' -e 's/\\$//' "$1" |
        tr -s ' \n' '  ' | sed 's/[{};]/\n/g' |
        sed -n -e 's/\[[^]]*\]/[]/g' -e 's/__device__ //g' -e 's/ \?( \?/(/g' \
            -e 's/.*inline \(.*)\) *$/\1/p'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in kernel_src/ptx/*.cuh tests/emu/ptx/*.cuh; do
    name=${file##*/}
    names "kernel_src/ptx/$name" | LC_ALL=C sort >"$work/real" || status=1
    names "tests/emu/ptx/$name" | LC_ALL=C sort >"$work/shadow" || status=1
    [ -s "$work/real" ] || { echo "no functions in $name"; status=1; }
    diff "$work/real" "$work/shadow" >"$work/diff" ||
        { echo "$name: < kernel_src/ptx, > tests/emu/ptx"
          cat "$work/diff"; status=1; }
done
exit $status
