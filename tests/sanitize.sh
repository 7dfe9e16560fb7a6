#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: sanitize.sh LIST TEST...
# Runs test programs in a build tree of their own, below the current one, made
# with -fsanitize=LIST and kept for the next time.
set -eu
list=$1
shift
tests=$*
[ -n "$tests" ] || { echo "no tests are listed"; exit 77; }
unset MAKEFLAGS MFLAGS # of the make that runs this
name=sanitize-${list%%,*}
source=$JG_SRCDIR
cd "$JG_BUILDDIR"
mkdir -p "$name"
config=$(./config.status --config)

# Some machines need a hand: no ptrace, or too much address randomization.
echo 'int main(void) { return 0; }' >"$name/probe.c"
$CC "-fsanitize=$list" -o "$name/probe" "$name/probe.c" ||
    { echo "the compiler lacks -fsanitize=$list"; exit 77; }
for with in "" "env ASAN_OPTIONS=detect_leaks=0" "setarch -R" none; do
    [ "$with" != none ] || { echo "-fsanitize=$list does not run"; exit 77; }
    ! $with "$name/probe" || break
done

# A source tree that is configured itself cannot serve another build tree.
if [ "$JG_SRCDIR" = "$JG_BUILDDIR" ]; then
    ${MAKE-make} -s distdir distdir="$name/source"
    source=$JG_BUILDDIR/$name/source
fi
cd "$name"
if [ ! -f Makefile ] || [ "$(cat config)" != "$config" ]; then
    # What may be relative in the configuration is said again. Compiling is
    # most of the time.
    eval "'$source/configure' -q $config '--srcdir=$source'" \
        "'--with-cuda=$JG_WITH_CUDA' --disable-shared" \
        "'--enable-sanitizers=$list' 'CFLAGS=-O0 -g1' 'CXXFLAGS=-O0 -g1'"
    printf '%s\n' "$config" >config
fi
# Of libraries only what they are linked with: the emulator is not.
VERBOSE=yes exec $with ${MAKE-make} -s check-TESTS check_PROGRAMS="$tests" \
    check_LIBRARIES= check_LTLIBRARIES= TESTS="$tests"
