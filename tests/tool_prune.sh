# SPDX-License-Identifier: MIT
# --prune removes what is over the limit; dry, it only says so.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
cache=$work/cache

entries() {
    find "$cache/v1/e" -name '*.jgc' | wc -l | tr -d ' '
}

run 0 --arch sm_90a --problem 16x256x512 --cache-dir "$cache"
count=$(entries)
[ "$count" -ge 1 ] || fail "no entry"
: >"$cache/v1/t/left"
touch -t 200001010000 "$cache/v1/t/left"

JITGEMM_CACHE_MAX_SIZE=1
export JITGEMM_CACHE_MAX_SIZE
run 0 --cache-dir "$cache" --prune=dry
empty "$work/err"
has "$work/out" "^$count entries, .*: would remove $count of them.* 1 other"
[ "$(grep -c '^cache: would remove [0-9a-f]\{32\}, ' "$work/out")" -eq \
    "$count" ] || fail "not a line an entry"
[ "$(entries)" -eq "$count" ] || fail "a dry run removed something"
[ -e "$cache/v1/t/left" ] || fail "a dry run swept"

JITGEMM_CACHE_MAX_SIZE=1G
run 0 --cache-dir "$cache" --prune
has "$work/out" "^$count entries, .*: removed 0 of them.* 1 other"
JITGEMM_CACHE_MAX_SIZE=1
run 0 --cache-dir "$cache" --prune
has "$work/out" "^$count entries, .*: removed $count of them.* 0 other"
[ "$(entries)" -eq 0 ] || fail "entries are left"

JITGEMM_MODE=read
export JITGEMM_MODE
run 1 --cache-dir "$cache" --prune
empty "$work/out"
has "$work/err" 'cannot be pruned'

log_failure --prune=wet
log_failure --prune --problem 8x64x64
log_failure --prune --list
log_failure --prune --json
cat >"$work/want" <<'END'
$ jitgemm-warm '--prune=wet'
jitgemm-warm: --prune: "wet" is not "dry"
Try "jitgemm-warm --help".
$ jitgemm-warm '--prune' '--problem' '8x64x64'
jitgemm-warm: --prune takes no problems
Try "jitgemm-warm --help".
$ jitgemm-warm '--prune' '--list'
jitgemm-warm: one of --list, --tune, --explain, --verify, --diff, --export, --import, --merge and --prune at a time
Try "jitgemm-warm --help".
$ jitgemm-warm '--prune' '--json'
jitgemm-warm: --prune prints no JSON
Try "jitgemm-warm --help".
END
same "$work/want" "$work/log"
