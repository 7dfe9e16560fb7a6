#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports what jitgemm.h declares, and nothing else.
set -eu
srcdir=${JG_SRCDIR-.}
library=${JG_BUILDDIR-.}/.libs/libjitgemm.so
[ -e "$library" ] || { echo "no shared library was built"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${NM-nm} -D --defined-only "$library" >"$work/nm"
sed 's/.* //' "$work/nm" | LC_ALL=C sort -u >"$work/exported"
${CC-cc} -E -P "$srcdir/include/jitgemm.h" >"$work/header"
tr -c 'a-z0-9_(' '\n' <"$work/header" |
    sed -n 's/^\(jitgemm_[a-z0-9_]*\)(.*/\1/p' |
    LC_ALL=C sort -u >"$work/declared"

[ -s "$work/declared" ] || { echo "jitgemm.h declares nothing"; exit 1; }
LC_ALL=C comm -13 "$work/declared" "$work/exported" >"$work/extra"
LC_ALL=C comm -23 "$work/declared" "$work/exported" >"$work/missing"
sed 's/^/exported but not in jitgemm.h: /' "$work/extra"
sed 's/^/in jitgemm.h but not exported: /' "$work/missing"
[ ! -s "$work/extra" ] && [ ! -s "$work/missing" ]
