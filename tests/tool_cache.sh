#!/bin/sh
# SPDX-License-Identifier: MIT
# The first run compiles, the second finds all of it; --list does neither.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
cache=$work/cache

# One line a kernel and a summary: the shape of both, with times left out.
shape() {
    sed -e 's/^\([a-z]*\) *[0-9.]* ms  \(sm_[0-9a-z]*\) */\1 MS \2 /' \
        -e 's/  [^ ].*$/ NAME/' -e 's/; [0-9]* ms/; MS/' "$work/out"
}

# Usage: expect SOURCE SUMMARY; what shape() makes of the kernels listed.
expect() {
    while read -r key; do
        echo "$1 MS sm_90a $key NAME"
    done <"$work/keys"
    echo "$count kernels: $2 0 failed; MS; cache $cache"
}

set -- --arch sm_90a --problem 16,0,40x256x512 --problem 900x4096x7168 \
    --problem 16x256x512
run 0 "$@" --cache-dir "$cache" --list
empty "$work/err"
[ ! -e "$cache" ] || fail "--list touched the cache"
keys "$work/out" >"$work/keys"
count=$(wc -l <"$work/keys" | tr -d ' ')
[ "$count" -ge 2 ] || fail "only $count kernels listed"
[ "$(sort -u "$work/keys" | wc -l)" -eq "$count" ] || fail "a key twice"
sed 's/^[0-9a-f]\{32\}  sm_90a    [^ ].*/ok/' "$work/out" | uniq \
    >"$work/fields"
echo ok >"$work/ok"
same "$work/ok" "$work/fields"

run 0 "$@" --cache-dir "$cache" --jobs 8
empty "$work/err"
shape >"$work/got"
expect compiled "$count compiled, 0 from disk," >"$work/want"
same "$work/want" "$work/got"

run 0 "$@" --cache-dir "$cache" --jobs 1
empty "$work/err"
shape >"$work/got"
expect disk "0 compiled, $count from disk," >"$work/want"
same "$work/want" "$work/got"

# A relative folder is below the current one.
cd "${cache%/*}"
run 0 "$@" --cache-dir "${cache##*/}"
empty "$work/err"
shape >"$work/got"
same "$work/want" "$work/got"
cd "$OLDPWD"

# The summary has no cache to name if none was given.
JITGEMM_CACHE_DIR=$cache
export JITGEMM_CACHE_DIR
run 0 "$@" --arch sm_90a
shape >"$work/got"
sed 's/; cache .*//' "$work/want" >"$work/want_default"
same "$work/want_default" "$work/got"
unset JITGEMM_CACHE_DIR

# A cache that cannot be is no failure: below a file, there is no folder.
echo keep >"$work/file"
run 0 --arch sm_90a --problem 16x256x512 --cache-dir "$work/file/below"
has "$work/out" '^compiled '
! grep -v '^jitgemm-warm: ' "$work/err" || fail "not a warning"
[ "$(cat "$work/file")" = keep ] || fail "the file was changed"

# Lost output is one.
if [ -c /dev/full ]; then
    for option in --list --json; do
        got=0
        "$JG_BUILDDIR/jitgemm-warm" "$@" --cache-dir "$cache" $option \
            >/dev/full 2>"$work/err" || got=$?
        [ "$got" -eq 1 ] || fail "status $got when the output was lost"
        has "$work/err" 'cannot write to standard output'
    done
fi
