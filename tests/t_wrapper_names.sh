#!/bin/sh
# SPDX-License-Identifier: MIT
# Every function of kernel_src/ptx is used by a kernel of tests/wrappers, and
# every kernel there is run by tests/g_wrappers.
set -eu
cd "${JG_SRCDIR-.}"
status=0

# Headers of which no GPU at hand can run anything: sm_100a.
elsewhere='tcgen05.cuh tensormap.cuh'

fail() {
    echo "$*"
    status=1
}

names=$(mktemp)
trap 'rm -f "$names"' EXIT
for file in kernel_src/ptx/*.cuh; do
    case " $elsewhere " in *" ${file##*/} "*) continue ;; esac
    sed -n '/__device__ inline/{/(/!{N;s/\n/ /;}
        s/.*[ *]\([a-z_0-9]*\)(.*/\1/p;}' "$file"
done | sort -u >"$names"
[ "$(wc -l <"$names")" -ge 20 ] || fail "too few functions found"
while read -r name; do
    grep -q "ptx::$name\>" tests/wrappers/*.cu tests/wrappers/*.cuh ||
        fail "no kernel of tests/wrappers uses ptx::$name"
done <"$names"

# Widths of wgmma are overloads.
for width in $(sed -n 's/^WGMMA(\([0-9]*\),.*/\1/p' kernel_src/ptx/wgmma.cuh)
do
    grep -q "^WRAP_WGMMA($width)" "tests/wrappers/wgmma_$width.cu" ||
        fail "no kernel of tests/wrappers has wgmma of width $width"
    tr '\n' ' ' <tests/wrappers/cases_wgmma.c |
        grep -q "widths[^}]*[{ ]$width[,}]" ||
        fail "tests/wrappers/cases_wgmma.c leaves out width $width"
done

for file in tests/wrappers/*.cu; do
    name=$(basename "$file" .cu)
    grep -q "_($name)" tests/wrappers/programs.h &&
        grep -q "\"$name.cu\"" tests/wrappers/emulated.cc ||
        fail "not in programs.h and emulated.cc: $file"
    grep -q "\"$name\"" tests/wrappers/cases_*.c ||
        [ "${name#wgmma_}" != "$name" ] ||
        fail "no case runs $file"
done
exit $status
