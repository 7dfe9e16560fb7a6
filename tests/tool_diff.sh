#!/bin/sh
# SPDX-License-Identifier: MIT
# --diff prints the fields that two keys differ in, by lines.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
cd "$work"
make_pack a.jgp 0.1.0 'same
stages = 3
stages = 3
only'
make_pack b.jgp 0.1.0 'stages = 4
same'
run 0 --list a.jgp
first=$(keys out | head -n 1)
run 0 --list b.jgp
second=$(keys out | head -n 1)

run 0 --diff "$first" "$second" a.jgp b.jgp
empty err
cat >want <<EOF2
--- $first
+++ $second
spec
- stages = 3
- only
+ stages = 4
EOF2
same want out

# As little of a key as tells it from others; in the cache.
run 0 --import a.jgp b.jgp --cache-dir "$work/cache"
run 0 --diff "${first%??????}" "${second%??????}" --cache-dir "$work/cache"
same want out
run 0 --diff "$first" "$first" a.jgp a.jgp
[ "$(wc -l <out)" -eq 2 ] || fail "an entry differs from itself"

run 0 --json --diff "$first" "$second" a.jgp b.jgp
check_json
has out '^{"field":"spec","first":"same\\u000astages = 3\\u000a'
[ "$(wc -l <out)" -eq 1 ] || fail "more than one field"

run 1 --diff "$first" "$second" a.jgp
has err "$second: no such entry"
make_pack c.jgp 0.1.0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
run 0 --list c.jgp
twice=$(keys out | cut -c 1 | uniq -d | head -n 1)
run 1 --diff "$twice" "$first" c.jgp a.jgp
has err "^jitgemm-warm: $twice: more than one entry begins so"
run 1 --diff "$first" "$second" none.jgp
has err 'none.jgp: No such file'
