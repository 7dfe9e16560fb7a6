#!/bin/sh
# SPDX-License-Identifier: MIT
# --verify=rebuild compiles what it can and compares; what was exported and
# imported is found in place of compiling.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
cd "$work"
set -- --arch sm_90a --problem 16x256x512 --cache-dir
run 0 "$@" "$work/cache"
has out '^compiled '
run 0 --export p.jgp --cache-dir "$work/cache"
run 0 --import p.jgp --cache-dir "$work/other"
run 0 "$@" "$work/other"
has out '^disk '
! grep '^compiled ' out || fail "compiled again"

make_pack foreign.jgp 9.9.9 one
run 0 --verify=rebuild p.jgp foreign.jgp
has out '^rebuilt '
has out '^not comparable '
has out '^2 entries of .*: 1 rebuilt, 0 different, 1 not comparable, 0 bad$'
has err ': another builtins_id, nvrtc_id, sources than here$'

make_pack altered.jgp --alter p.jgp
run 0 --verify altered.jgp
run 3 --verify=rebuild --json altered.jgp
check_json
has out '"state":"different","why":"the cubin made here has other bytes"'
