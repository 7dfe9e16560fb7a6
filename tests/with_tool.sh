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
