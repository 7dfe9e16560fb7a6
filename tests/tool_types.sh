#!/bin/sh
# SPDX-License-Identifier: MIT
# Types, split k and conversions: the kernels listed are those made ready.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
set -- --arch sm_90a --cache-dir "$work/cache"

# Usage: lists PATTERN ARGUMENT...; one of the kernels has such a name.
lists() {
    pattern=$1
    shift
    run 0 --arch sm_90a --list "$@"
    empty "$work/err"
    has "$work/out" "  sm_90a    $pattern"
}

problem='--problem 80,176x256x512'
lists 'sm90_nvfp4 .*, f16' $problem
lists 'sm90_nvfp4 .*, f32' $problem --c f32
lists 'sm90_nvfp4 .*, bf16 to f16' --a bf16 $problem
lists 'sm90_nvfp4 .*, f16 to bf16' --a f16 $problem --c bf16
lists 'sm90_nvfp4 .*, mxfp4 to f32' --b mxfp4 $problem --c f32
lists 'sm90_nvfp4 .*, split k [248]' --problem 8x512x7168 --split-k
run 0 --arch sm_90a --list --problem 8x512x7168
! grep 'split k' "$work/out" || fail "k is split unasked"

lists 'sm90_nvfp4 .*, f16, .*strided' $problem --row-a 272
lists 'sm90_nvfp4 .*, f16, .*strided' $problem --row-c 528
lists 'sm90_nvfp4 .*, f16, .*adds' $problem --accumulate
lists 'experts .*, zero tail' --problem 300@96/40x256x512 --zero-tail
run 0 --arch sm_90a --list $problem --row-a 256 --row-c 512 # packed
! grep 'strided' "$work/out" || fail "packed rows are strided"

# They are of lists, too, whatever comes first.
echo 80,176x256x512 >"$work/list"
run 0 --arch sm_90a --list --c f32 $problem
cp "$work/out" "$work/want"
run 0 --arch sm_90a --list --file "$work/list" --c f32
same "$work/want" "$work/out"
run 0 --arch sm_90a --explain --c f32 $problem
has "$work/out" '^\*.* sm90_nvfp4 .*, f32'

run 0 --arch sm_90a --explain --sm-limit 2 $problem
has "$work/out" ' sm_90a with 2 multiprocessors'

# What a frozen program lacks is named as options that make it.
for options in "$problem --a f16 --c f32" \
    '--problem 8x512x7168 --c bf16 --split-k' \
    '--problem 80x512x7168 --row-a 3600 --row-c 1040 --accumulate' \
    '--problem 8@96/40x256x512:masked --a bf16 --zero-tail --sm-limit 2' \
    '--problem 8@96/40x256x512 --b mxfp4 --c bf16'; do
    run 0 --arch sm_90a --list $options
    cp "$work/out" "$work/want"
    JITGEMM_MODE=strict
    export JITGEMM_MODE
    run 1 "$@" $options
    unset JITGEMM_MODE
    named=$(sed -n 's/.* is frozen: key .*, problem //p' "$work/err" |
        tail -n 1)
    run 0 --arch sm_90a --list --problem $named
    same "$work/want" "$work/out"
done

# What the library refuses.
run 1 --arch sm_100a --list --a f16 $problem
has "$work/err" 'problem.a_type'
run 1 --arch sm_100a --list --b mxfp4 $problem
has "$work/err" 'problem.b_type'
run 1 --arch sm_90a --list --a f16 --b mxfp4 $problem
has "$work/err" 'problem.b_type'
run 1 --arch sm_90a --list --zero-tail $problem
has "$work/err" 'JITGEMM_ZERO_TAIL'
run 1 --arch sm_90a --list --row-c 496 $problem
has "$work/err" 'problem.row_c is 496; .* at least 512 bytes'
run 1 --arch sm_90a --list --conversion f16:stacked:strided
has "$work/err" '^jitgemm-warm: conversion "f16:stacked:strided": sm_90a: '

# Conversions in all forms; each kernel once.
set -- "$@" --conversion f16 --conversion bf16:masked \
    --conversion f16:stacked:tight --conversion e4m3:stacked:floor \
    --conversion bf16:stacked:tight:linear \
    --conversion bf16+gather+swiglu:masked --conversion f16+swiglu-interleaved \
    --conversion bf16+cast-f16+gather --conversion f16+swiglu+cast-f16:masked \
    --conversion bf16+swiglu-oai --conversion bf16+swiglu-oai-interleaved \
    --conversion f32+combine-bf16
run 0 "$@" --list
empty "$work/err"
cp "$work/out" "$work/listed"
sed 's/^[0-9a-f]*  sm_90a    //' "$work/listed" >"$work/got"
cat >"$work/want" <<'END'
quantize f16, stacked, tight
quantize bf16, masked, tight
blocked_scales e4m3, stacked, floor
quantize bf16, stacked, linear
quantize bf16, masked, tight, swiglu, gather
quantize f16, stacked, tight, swiglu interleaved
cast bf16 to f16, stacked, gather
cast f16 to f16, masked, swiglu
quantize bf16, stacked, tight, swiglu oai
quantize bf16, stacked, tight, swiglu oai interleaved
combine f32 to bf16
END
same "$work/want" "$work/got"
[ ! -e "$work/cache" ] || fail "--list touched the cache"
run 0 "$@"
has "$work/out" '^11 kernels: 11 compiled'
keys "$work/listed" >"$work/want"
keys "$work/out" >"$work/got"
same "$work/want" "$work/got"
run 0 "$@" --json
[ "$(grep -c '"source":"disk"' "$work/out")" -eq 11 ] || fail "not 11 on disk"
