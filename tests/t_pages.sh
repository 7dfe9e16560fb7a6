#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual page of the library tells of every function, with its prototype,
# of every status, and of every environment variable that the library reads.
set -eu
srcdir=${JG_SRCDIR-.}
header=$srcdir/include/jitgemm.h
page=$srcdir/include/jitgemm.3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

same() {
    [ -s "$1" ] || { echo "nothing to compare: $3"; exit 1; }
    diff -u "$1" "$2" || { echo "header and page differ: $3"; exit 1; }
}

# Prototypes, one a line, without blanks and comments.
tr '\n' ' ' <"$header" | awk '{ gsub(/\*\//, "\n"); print }' |
    sed 's|/\*.*||' | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*[ *]\(jitgemm_[a-z_]*\)(\(.*\)).*/\1(\2)/p' |
    tr -d ' ' | sort >"$work/header"
sed -n 's/^\.Fn \(jitgemm_[a-z_]*\) \(.*\)/\1(\2)/p' "$page" |
    sed 's/" "/,/g; s/"//g' | tr -d ' ' | grep '(' | sort >"$work/page"
same "$work/header" "$work/page" prototypes

# Result types, in the order of the page.
sed -n 's/^\.Ft "*\([^"]*\)"*/\1/p' "$page" >"$work/types"
sed -n 's/^\.Fn \(jitgemm_[a-z_]*\) .*/\1/p' "$page" |
    paste -d ' ' "$work/types" - | tr -d ' ' | sort >"$work/page"
sed -n 's/^\([a-z].*[ *]jitgemm_[a-z_]*\)(.*/\1/p' "$header" |
    tr -d ' ' | sort >"$work/header"
same "$work/header" "$work/page" 'result types'

sed -n 's/^ *_(\(E_[A-Z_]*\),.*/JITGEMM_\1/p' "$header" | sort \
    >"$work/header"
sed -n 's/^\.It Dv //p' "$page" | sort >"$work/page"
same "$work/header" "$work/page" statuses

sed -n 's/.*[a-z]("\([A-Z_]*\)").*/\1/p' "$srcdir/lib/env.c" | sort \
    >"$work/header"
sed -n 's/^\.It Ev //p' "$page" | tr -d ' ' |
    tr ',' '\n' | sort >"$work/page"
same "$work/header" "$work/page" 'environment variables'
