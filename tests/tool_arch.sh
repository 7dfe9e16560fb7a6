#!/bin/sh
# SPDX-License-Identifier: MIT
# Architectures: one that is not supported is named and the others are done;
# none at all needs a GPU.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"

run 0 --problem 8x64x64 --list --arch sm_90a
cp "$work/out" "$work/want"
run 0 --problem 8x64x64 --list --arch sm_90a,sm_90a --arch sm_90a
same "$work/want" "$work/out"

for arch in sm_30,sm_90a sm_90a,sm_30; do
    run 1 --problem 8x64x64 --list --arch $arch
    same "$work/want" "$work/out"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "not one message"
    has "$work/err" '^jitgemm-warm: sm_30: .*sm_90a'
done
run 1 --problem 8x64x64 --arch nonsense
empty "$work/out"
has "$work/err" '^jitgemm-warm: nonsense: '

# With a driver library that is none, there is no GPU.
JITGEMM_LIBCUDA=$work/none.so
export JITGEMM_LIBCUDA
run 0 --problem 8x64x64 --list --arch sm_90a
same "$work/want" "$work/out"
run 1 --problem 8x64x64
empty "$work/out"
has "$work/err" \
    '^jitgemm-warm: .*; name what to compile for with --arch$'
unset JITGEMM_LIBCUDA

# Without NVRTC kernels that are not cached are missing.
JITGEMM_LIBNVRTC=$work/none.so JITGEMM_CACHE_DIR=$work/empty
export JITGEMM_LIBNVRTC JITGEMM_CACHE_DIR
got=0
"$JG_BUILDDIR/jitgemm-warm" --arch sm_90a --problem 8x64x64 \
    --problem 8x64x128 >"$work/out" 2>"$work/err" || got=$?
[ "$got" -eq 1 ] || fail "status $got without NVRTC"
empty "$work/out"
[ "$(wc -l <"$work/err")" -eq 2 ] || fail "not a message a problem"
has "$work/err" '8x64x64.*: sm_90a: .*NVRTC'
has "$work/err" '8x64x128.*: sm_90a: .*NVRTC'
