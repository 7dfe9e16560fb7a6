#!/bin/sh
# SPDX-License-Identifier: MIT
# --help, the manual page and the program know the same options.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
page=$srcdir/lib/tool/jitgemm-warm.1

run 0 --help
empty "$work/err"
cp "$work/out" "$work/help"
grep -o -e '--[a-z][a-z-]*' "$work/help" | sort -u >"$work/in_help"
# Every mention in the page, then those that start a description.
grep -o -e 'Fl -[a-z][a-z-]*' "$page" | sed 's/^Fl -/--/' |
    sort -u >"$work/in_page"
sed -n 's/^\.It Fl -\([a-z-]*\).*/--\1/p' "$page" | sort >"$work/described"
[ -s "$work/in_help" ] || fail "no options in --help"
same "$work/in_help" "$work/in_page"
same "$work/in_help" "$work/described"

# An option that the program does not know is called unknown; an operand that
# it does not take either, after the known ones.
while read -r option; do
    run 2 "$option=/nonexistent" --nonsense --problem x
    ! grep -q -e "unknown.*$option" "$work/err" ||
        fail "$option is in --help but unknown"
done <"$work/in_help"

awk 'length > 79 { exit 1 }' "$work/help" || fail "--help is too wide"
run 0 --version
empty "$work/err"
has "$work/out" '^jitgemm-warm [0-9]*\.[0-9]*\.[0-9]*, library [0-9.]*$'

# All exit statuses are told in both.
for status in 0 1 2 3; do
    has "$page" "^\.It $status\$"
    has "$work/help" " $status if"
done
