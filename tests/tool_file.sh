#!/bin/sh
# SPDX-License-Identifier: MIT
# List files: errors name file and line; comments, blanks and line ends do not
# matter.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
bad=$work/bad.txt

log_failure --file "$work/missing.txt"
log_failure --file "$work"
printf '# comment\n\n8x64x64\n8x64\n9x64\n' >"$bad"
log_failure --file "$bad"
printf '8x64x64 8x64x64\n' >"$bad"
log_failure --file "$bad"
printf '8x64x64\n8x64\00064\n' >"$bad"
log_failure --file "$bad"
printf '8x64x64\n8x64x' >"$bad" # the last line has no end
log_failure --file "$bad"
log_failure --file - <"$bad"
printf '8x64x64\n' >"$work/good.txt"
log_failure --file "$work/good.txt" --file "$bad" --problem 1
same "$srcdir/tests/tool_file.out" "$work/log"

# The order is that of the command line, in which files take their place.
set -- --arch sm_90a --list
run 0 "$@" --problem 8x64x64 --problem 0,900x4096x7168 --problem 7x128x64
cp "$work/out" "$work/want"
printf '\t8x64x64  # decode\r\n\n  # none\n0,900x4096x7168' >"$work/good.txt"
run 0 "$@" --file "$work/good.txt" --problem 7x128x64
same "$work/want" "$work/out"
run 0 "$@" --file - --problem 7x128x64 <"$work/good.txt"
same "$work/want" "$work/out"

# An empty list is a list.
run 0 "$@" --file /dev/null
empty "$work/out"
empty "$work/err"

# What the library refuses is named by its line; the others are done.
printf '8x64x64\n8x65x64\n0,900x4096x7168\n7x128x64\n' >"$work/mixed.txt"
run 1 "$@" --file "$work/mixed.txt" --problem 8x64x65
same "$work/want" "$work/out"
[ "$(wc -l <"$work/err")" -eq 2 ] || fail "not two messages"
has "$work/err" \
    "^jitgemm-warm: $work/mixed.txt:2: problem \"8x65x64\": sm_90a: .*65"
has "$work/err" '^jitgemm-warm: problem "8x64x65": sm_90a: .*65'
