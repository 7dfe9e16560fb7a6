# SPDX-License-Identifier: MIT
# Sourced by tests/tool_*.sh: a temporary folder $work, and ways to run
# jitgemm-warm and to compare what it printed.
srcdir=$JG_SRCDIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "failed: $*"
    exit 1
}

# Usage: run STATUS ARGUMENT...; output goes to $work/out and $work/err.
# Without NVRTC there are no keys, and so nothing to test.
run() {
    want=$1 got=0
    shift
    "$JG_BUILDDIR/jitgemm-warm" "$@" >"$work/out" 2>"$work/err" || got=$?
    if grep 'no usable NVRTC' "$work/err"; then
        exit 77
    fi
    [ "$got" -eq "$want" ] && return
    cat "$work/out" "$work/err"
    fail "status $got, not $want: jitgemm-warm $*"
}

# Usage: same WANT GOT; two files.
same() {
    diff -u "$1" "$2" || fail "$2 differs from $1"
}

empty() {
    same /dev/null "$1"
}

# Usage: has FILE PATTERN
has() {
    grep -q -e "$2" "$1" && return
    cat "$1"
    fail "no $2 in $1"
}

# Appends the command, its messages and its status to $work/log.
log_failure() {
    run 2 "$@"
    empty "$work/out"
    {
        printf '$ jitgemm-warm'
        [ $# -eq 0 ] || printf " '%s'" "$@"
        echo
        cat "$work/err"
    } | sed "s|$work|WORK|g" >>"$work/log"
}

keys() {
    grep -o '[0-9a-f]\{32\}' "$1"
}

# Usage: make_pack PACK LIBRARY SPEC...; see tests/make_pack.c. Needs no NVRTC.
make_pack() {
    "$JG_BUILDDIR/tests/make_pack" "$@" || fail "make_pack $*"
    chmod 644 "$1"
}

# Usage: put_byte FILE OFFSET OCTAL
put_byte() {
    printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# Every line of $work/out is a JSON object, as far as can be told here.
check_json() {
    ! grep -v '^{".*}$' "$work/out" || fail "not JSON lines"
    command -v python3 >/dev/null || return 0
    python3 -c 'import json, sys
for line in open(sys.argv[1], encoding="utf-8"): json.loads(line)' \
        "$work/out" || fail "not JSON"
}
