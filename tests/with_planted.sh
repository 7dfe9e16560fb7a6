# SPDX-License-Identifier: MIT
# Sourced, after with_emu.sh, by tests that plant bugs in copies of the kernel
# texts, all in folder $work: each must be noticed.

# Usage: planted WORDS TEXT SED COMMAND...: the command, with the text so
# changed, must fail, and say a line with the words.
planted() {
    words=$1 text=$2 change=$3
    shift 3
    rm -rf "$work"
    mkdir -p "$work"
    ln -s "$JG_SRCDIR/tests" "$work/tests"
    cp -R "$JG_SRCDIR/kernel_src" "$work"
    chmod -R u+w "$work/kernel_src"
    sed "$change" "$JG_SRCDIR/kernel_src/$text" >"$work/kernel_src/$text"
    ! cmp -s "$JG_SRCDIR/kernel_src/$text" "$work/kernel_src/$text" ||
        { echo "$text: nothing to change"; exit 1; }
    if JG_SRCDIR=$work "$@" >"$work/log" 2>&1; then
        echo "$text, $change, $*: nobody noticed"
        exit 1
    fi
    grep -E -m 1 "$words" "$work/log" || { cat "$work/log"; exit 1; }
}
