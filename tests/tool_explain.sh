# SPDX-License-Identifier: MIT
# --explain prints the library's view of each problem, one choice in each.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"

run 0 --explain --arch sm_90a,sm_100a --problem 128x4096x7168 \
    --problem 8x64x64
empty "$work/err"
[ "$(grep -c '^\*' "$work/out")" -eq 4 ] || fail "not a choice a problem"
has "$work/out" '128x4096x7168.*: sm_90a with 132 multiprocessors'
has "$work/out" '8x64x64.*: sm_100a with 148 multiprocessors'
has "$work/out" '^\*.* sm90_nvfp4 '
has "$work/out" '^\*.* sm100_nvfp4 '

# No compiler is needed, and nothing is cached.
JITGEMM_LIBNVRTC=$work/none.so
export JITGEMM_LIBNVRTC
run 0 --explain --arch sm_103a --problem 8x64x64
has "$work/out" 'sm_103a with 160 multiprocessors'

JITGEMM_LIBCUDA=$work/none.so
export JITGEMM_LIBCUDA
run 1 --explain --problem 8x64x64
empty "$work/out"
has "$work/err" 'name an architecture with --arch$'
run 1 --explain --arch sm_90a --problem 8x64x63
has "$work/err" 'multiple of 32'
run 1 --explain --arch sm_30 --problem 8x64x64
has "$work/err" '^jitgemm-warm: sm_30: '

log_failure --explain
log_failure --explain --list --problem 8x64x64
log_failure --explain --json --problem 8x64x64
cat >"$work/want" <<'END'
$ jitgemm-warm '--explain'
jitgemm-warm: no problem: give --problem, --file, --model or --conversion
Try "jitgemm-warm --help".
$ jitgemm-warm '--explain' '--list' '--problem' '8x64x64'
jitgemm-warm: one of --list, --tune, --explain, --verify, --diff, --export, --import, --merge and --prune at a time
Try "jitgemm-warm --help".
$ jitgemm-warm '--explain' '--json' '--problem' '8x64x64'
jitgemm-warm: --explain prints no JSON
Try "jitgemm-warm --help".
END
same "$work/want" "$work/log"
