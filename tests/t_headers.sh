#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone: the public one as C and C++, the others as C.
set -eu
srcdir=${JG_SRCDIR-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# Usage: alone HEADER SUFFIX COMPILER...; includes it twice.
alone() {
    header=$1 source=$work/alone.$2
    shift 2
    printf '#include "%s"\n' "$header" "$header" >"$source"
    echo 'extern int not_empty;' >>"$source"
    "$@" -Wall -Wextra -pedantic -Werror -I"$srcdir/include" \
        -I"${JG_BUILDDIR-.}" -fsyntax-only "$source" ||
        { echo "failed: $* with $header"; status=1; }
}

# Compilers may be several words: "ccache gcc".
alone jitgemm.h c ${CC-cc} -std=c11
if echo 'int x;' >"$work/x.cc" &&
    ${CXX-c++} -fsyntax-only "$work/x.cc" 2>/dev/null; then
    for standard in 11 17; do
        alone jitgemm.h cc ${CXX-c++} -std=c++$standard
    done
else
    echo "no C++ compiler: C only"
fi
for header in "$srcdir"/lib/*.h; do
    alone "${header##*/}" c ${CC-cc} -std=c11 -I"$srcdir/lib" \
        -I"$srcdir/kernel_src" \
        ${JG_CUDA_CPPFLAGS-}
done
exit $status
