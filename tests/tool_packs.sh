#!/bin/sh
# SPDX-License-Identifier: MIT
# Entries go from packs to a cache and back, the same bytes either way.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
cache=$work/cache
cd "$work"
make_pack a.jgp 0.1.0 one two
make_pack b.jgp 9.9.9 three

run 1 --list --cache-dir "$cache"
has out "^0 entries of 0 bytes: 0 good, 0 bad\$"
has err 'cache/v1: No such file'
run 1 --list none.jgp
has err 'none.jgp: No such file'

run 0 --import a.jgp b.jgp --cache-dir "$cache"
empty err
has out '^3 entries of [0-9]* bytes: 3 good, 0 bad$'
run 0 --list --cache-dir "$cache"
empty err
cp out listed
[ "$(keys out | sort -u | wc -l)" -eq 3 ] || fail "not 3 keys"
keys out >got
sort got >want
same want got
line='^good            sm_90a    [0-9a-f]\{32\}  *[0-9]*  gemm, NVRTC 13.0'
[ "$(grep -c "$line, library 0.1.0\$" out)" -eq 2 ] || fail "not 2 of 0.1.0"
[ "$(grep -c "$line, library 9.9.9\$" out)" -eq 1 ] || fail "not 1 of 9.9.9"

# Its digest is that of the header, 16 bytes, and of 72 bytes an entry.
run 0 --export all.jgp --cache-dir "$cache"
empty err
digest=$(head -c $((16 + 3 * 72)) all.jgp | sha256sum | cut -d ' ' -f 1)
has out "^sha256 $digest  all.jgp\$"
run 0 --verify all.jgp
has out "^sha256 $digest  .*/all.jgp\$"
grep -v '^sha256' out >got
same listed got

run 0 --merge merged.jgp b.jgp a.jgp "$cache"
cmp all.jgp merged.jgp || fail "merging and exporting differ"
run 0 --import merged.jgp --cache-dir "$work/other"
(cd "$cache/v1/e" && find . -type f) | while read -r entry; do
    cmp "$cache/v1/e/$entry" "other/v1/e/$entry" || fail "$entry differs"
done
[ "$(find other -name '*.jgc' | wc -l)" -eq 3 ] || fail "not 3 files"
JITGEMM_CACHE_DIR=$work/other
export JITGEMM_CACHE_DIR
run 0 --verify
same listed out
unset JITGEMM_CACHE_DIR

run 0 --list --json all.jgp
empty err
check_json
[ "$(grep -c '"state":"good","why":""' out)" -eq 3 ] || fail "not 3 good"
has out '"library":"9.9.9".*"fields":{.*"nvrtc_id":"0123abcd".*"spec":"three"'
has out "^{\"pack\":\".*/all.jgp\",\"sha256\":\"$digest\"}\$"
[ "$(wc -l <out)" -eq 4 ] || fail "not 4 lines"

# A program finds what was imported: see tool_rebuild.sh.
mkdir -m 700 empty empty/v1 empty/v1/e
run 1 --export e.jgp --cache-dir "$work/empty"
has err 'no good entry to copy'
run 3 --export none/e.jgp --cache-dir "$cache"
has err 'none/e.jgp: No such file'
