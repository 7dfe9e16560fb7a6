#!/bin/sh
# SPDX-License-Identifier: MIT
# --json prints an object a line and nothing else.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
set -- --arch sm_90a --problem 16,0,40x256x512 --cache-dir "$work/cache" --json
string='"[^"\\]*"'
head="{\"key\":\"[0-9a-f]\{32\}\",\"arch\":\"sm_90a\",\"name\":$string"

# Usage: check FIELDS PATTERN; each line of $work/out has exactly these.
check() {
    empty "$work/err"
    [ -s "$work/out" ] || fail "no output"
    ! grep -v -e "^$head$2}\$" "$work/out" || fail "not $1"
    python3 - "$work/out" "$1" <<'EOF' || fail "not JSON"
import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    assert ",".join(json.loads(line)) == sys.argv[2], line
EOF
}
command -v python3 >/dev/null || python3() {
    cat >/dev/null
}

run 0 "$@" --list
check key,arch,name ''
keys "$work/out" >"$work/keys"
run 0 "$@"
check key,arch,name,source,ms ',"source":"compiled","ms":[0-9]*\.[0-9]*'
keys "$work/out" >"$work/got"
same "$work/keys" "$work/got"
run 0 "$@"
check key,arch,name,source,ms ',"source":"disk","ms":[0-9]*\.[0-9]*'
keys "$work/out" >"$work/got"
same "$work/keys" "$work/got"
