#!/bin/sh
# SPDX-License-Identifier: MIT
# What is wrong with options and problems is said exactly, and nothing done.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"

log_failure
log_failure --arch sm_90a
log_failure --problem
log_failure --nonsense
log_failure --j 2
log_failure -x
log_failure --json -xy
log_failure --json=yes
log_failure --problem 8x64x64 8x64x64
log_failure --arch sm_90a, --problem 8x64x64
log_failure --arch= --problem 8x64x64
log_failure --cache-dir= --problem 8x64x64
for jobs in 0 1025 -1 +1 2x 99999999999999999999999; do
    log_failure --jobs $jobs --problem 8x64x64
done

for problem in '' x 8 8x 8x64 8x64x 8x64x64x '8x64x64,' 8,x64x64 ,8x64x64 \
    8,,8x64x64 8x64,64x64 8X64x64 -8x64x64 +8x64x64 8x-64x64 0x8x64x64 \
    8x64x6.4 8x64x99999999999999999999 9223372036854775808x64x64; do
    log_failure --problem "$problem"
done
for problem in 8@ 8@9 8@9/ 8@9/x64x64 8@9/2x64 8@9x64x64: \
    8@9x64x64:stack 8@9x64x64:masked:tight: 8@9x64x64:masked:loose \
    8@9x64x64:tight 8,8@9x64x64 @9x64x64 65537@9x64x64; do
    log_failure --problem "$problem"
done
for conversion in '' f64 f16: f16:tight f16:stacked:low f16x \
    f16+ f16+gelu f16+swiglu+ f16:masked+swiglu \
    f16:masked:strided:blocked: f16:masked:strided:row; do
    log_failure --conversion "$conversion"
done
log_failure --a
log_failure --a f32 --problem 8x64x64
log_failure --b bf16 --problem 8x64x64
log_failure --c '' --problem 8x64x64
log_failure --problem '8 x64x64'
log_failure --problem ' 8x64x64'
log_failure --problem "8x64x64$(printf '\033')[31m"

# Of a long text, the part around the fault.
long=$(awk 'BEGIN { for (i = 0; i < 40; i++) printf "100," }')
log_failure --problem "${long}y${long}1x64x64"
groups=$(awk 'BEGIN { for (i = 0; i < 65536; i++) printf "," }' |
    sed 's/,/1,/g')
run 2 --file - <<EOF
${groups}1x64x64
EOF
sed 's/^/many groups: /' "$work/err" >>"$work/log"

for verb in --diff '--diff 0' --export --import --merge '--merge a.jgp' \
    '--export a.jgp b.jgp' '--export a' '--import a.jgp b' \
    '--diff 0 x' '--diff 0 012345678901234567890123456789012' \
    '--list --verify' '--verify=build' '--list= x' '--arch sm_90a --verify' \
    '--c f16 --list' '--split-k --list' '--row-a 0' '--row-c x' '--explain --conversion f16' \
    '--export a.jgp --conversion f16' '--list --jobs 2' \
    '--problem 8x64x64 --verify' \
    '--problem 8x64x64 --list a.jgp' '--problem 8x64x64 --export a.jgp'; do
    log_failure $verb
done
log_failure --list ''

sed "s/$(printf '\033')/ESC/g" "$work/log" >"$work/readable"
same "$srcdir/tests/tool_usage.out" "$work/readable"
