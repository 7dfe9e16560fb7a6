#!/bin/sh
# SPDX-License-Identifier: MIT
# A machine with every kernel and no NVRTC: the example runs there, from the
# cache that one with NVRTC left and from a pack of it.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
example=$JG_BUILDDIR/examples/grouped_gemm
warm=$JG_BUILDDIR/jitgemm-warm
JITGEMM_CACHE_DIR=$work/cache JITGEMM_LOG=3
export JITGEMM_CACHE_DIR JITGEMM_LOG

# Usage: runs_from SOURCE: every kernel comes from there, the same ones.
runs_from() {
    "$example" 0 >"$work/out" 2>"$work/log" || { cat "$work/log"; exit 1; }
    sed -n "s/^jitgemm: \([0-9a-f]\{32\}\) .*: $1, .*/\1/p" "$work/log" \
        >"$work/keys.$1"
    [ "$(wc -l <"$work/keys.$1")" = "$(wc -l <"$work/log")" ] &&
        [ -s "$work/keys.$1" ] && cmp "$work/keys.compiled" "$work/keys.$1" ||
        { echo "not all from $1:"; cat "$work/log"; exit 1; }
}
runs_from compiled
JITGEMM_LIBNVRTC=$work/none.so
export JITGEMM_LIBNVRTC
runs_from disk

mkdir "$work/layer"
"$warm" --export "$work/layer/p.jgp" >"$work/out"
JITGEMM_CACHE_DIR=$work/empty JITGEMM_CACHE_RO_PATH=$work/layer
export JITGEMM_CACHE_DIR JITGEMM_CACHE_RO_PATH
runs_from pack

unset JITGEMM_CACHE_RO_PATH
if "$example" 0 >"$work/out" 2>&1; then
    echo "the example runs without kernels"
    exit 1
fi
grep -q "not cached, and cannot be compiled: no usable NVRTC; tried" \
    "$work/out" || { cat "$work/out"; exit 1; }
