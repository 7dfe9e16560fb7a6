#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules of kernel_src that let one source compile with NVRTC and, with another
# ptx folder before it on the include path, with a host compiler.
set -eu
cd "${JG_SRCDIR-.}"
status=0

# Prints "file:line:text" of code, comments blanked.
code() {
    for file; do
        sed -e 's,//.*,,' -e 's,/\*[^*]*\*/,,g' -e '/\/\*/,/\*\//s/.*//' \
            "$file" | sed -n "/./{=;p;}" | sed -e N -e 's/\n/:/' \
            -e "s,^,$file:,"
    done
}

# Usage: rule TEXT PATTERN [ALLOWED]: no line of standard input may match
# PATTERN, unless it matches ALLOWED too.
rule() {
    found=$(grep -E -- "$2" | grep -vE -- "${3-^$}") || return 0
    printf '%s:\n%s\n' "$1" "$found"
    status=1
}

files=$(find kernel_src -type f ! -name local.mk ! -name embed.sh |
    LC_ALL=C sort)
listed=$(tr -s ' \t\\' '\n\n\n' <kernel_src/local.mk | grep '^kernel_src/.*\.\(cuh*\|h\)$')
[ -n "$files" ] || { echo "no kernel texts"; exit 1; }
all=$(mktemp)
trap 'rm -f "$all"' EXIT
code $files >"$all"

rule "only in kernel_src/ptx" \
    '\<((__)?asm(__)?|__shared__)\>|\<__(cvta|shfl)|<<<' \
    '^kernel_src/ptx/' <"$all"
rule "an include is <dir/file> or <spec.cuh>" '# *include' \
    '# *include <([a-z0-9_]+/[a-z0-9_]+\.(cuh|h)|spec\.cuh)> *$' <"$all"
rule "no conditional compilation in a kernel" \
    '^kernel_src/gemm/[^:]*:[0-9]+: *# *(if|el)' <"$all"

for file in $files; do
    echo "$listed" | grep -Fqx "$file" ||
        { echo "not listed in kernel_src/local.mk: $file"; status=1; }
done
# What is included must be embedded.
for file in $(sed -n 's,.*# *include <\([^>]*/[^>]*\)>.*,\1,p' "$all"); do
    echo "$listed" | grep -Fqx "kernel_src/$file" ||
        { echo "included but not listed: $file"; status=1; }
done
exit $status
