#!/bin/sh
# SPDX-License-Identifier: MIT
# --tune measures on the emulated device what plans then take, host and device
# sizes alike; without the file the model's choice is back. Which one is the
# fastest there is chance, so the file is turned to one that the model does not
# choose.
. "$JG_SRCDIR/tests/with_emu.sh"
. "$JG_SRCDIR/tests/with_tool.sh"
must_have_nvrtc
chmod 755 "$work"
JITGEMM_EMU_DEVICE=b200 JITGEMM_CACHE_DIR=$work/cache
export JITGEMM_EMU_DEVICE JITGEMM_CACHE_DIR
file=$work/cache/v1/tuning-sm_100a-148

# An odd number of 32 k is not for pairs: five of seven configurations.
run 0 --tune --problem 3,5x8x32 --problem 2@8/5x8x32:stacked:explicit
number='[0-9]*\.[0-9][0-9] us: sm100_nvfp4 .*'
has "$work/out" "^problem \"3,5x8x32\": 5 tried; ${number}choice $number"
has "$work/out" "^problem \"2@8/5x8x32:.*\": 5 tried; ${number}choice $number"
[ "$(wc -l <"$work/out")" = 2 ] || fail "not a line a problem"
[ "$(sed 1d "$file" | cut -f 1 | tr '\n' ,)" = "2x8x32 rows 8 longest 4 \
nvfp4 f16 device,2x8x32 rows 8 longest 8 nvfp4 f16," ] || fail "$(cat "$file")"
# What is stored is what was printed, and never slower than the model's.
awk -F '\t' 'NR > 1 && !($3 > 0 && $3 <= $4) { exit 1 }' "$file" ||
    fail "$(cat "$file")"
tuned=$(sed -n 's/.*tried; [^:]*: \(.*\); the model.*/\1/p' "$work/out")
[ "$(sed 1d "$file" | cut -f 2 | sort)" = "$(echo "$tuned" | sort)" ] ||
    fail "$(cat "$file" "$work/out")"

# A problem of the class, with other rows, takes what the file says.
choice() {
    run 0 --explain --problem 7,1x8x32
    sed -n 's/^\*.* \(sm100_nvfp4.*\)/\1/p' "$work/out"
}
mv "$file" "$work/tuning"
model=$(choice)
has "$work/out" '^not tuned: tuning-sm_100a-148: No such file'
other='sm100_nvfp4 128x256x256, 4 stages, f16'
[ "$model" != "$other" ] || fail "the model takes $other"
awk -F '\t' -v OFS='\t' -v other="$other" 'NR > 1 { $2 = other } 1' \
    "$work/tuning" >"$file"
chmod 600 "$file"
[ "$(choice)" = "$other" ] || fail "the file is not believed"
has "$work/out" '^tuned for 2x8x32 rows 8 longest 8 nvfp4 f16: measured '
run 0 --list --problem 7,1x8x32
has "$work/out" "  $other\$"
rm "$file"
[ "$(choice)" = "$model" ] || fail "the model's choice is not back"

run 1 --tune --problem 0x8x32
empty "$work/out"
has "$work/err" 'no group has a row'

log_failure --tune
log_failure --tune --arch sm_90a --problem 8x64x64
log_failure --tune --conversion f16
log_failure --tune --json --problem 8x64x64
cat >"$work/want" <<'END'
$ jitgemm-warm '--tune'
jitgemm-warm: no problem: give --problem, --file, --model or --conversion
Try "jitgemm-warm --help".
$ jitgemm-warm '--tune' '--arch' 'sm_90a' '--problem' '8x64x64'
jitgemm-warm: --tune measures on the GPUs here: it takes no --arch
Try "jitgemm-warm --help".
$ jitgemm-warm '--tune' '--conversion' 'f16'
jitgemm-warm: --tune takes no conversions: they have one kernel each
Try "jitgemm-warm --help".
$ jitgemm-warm '--tune' '--json' '--problem' '8x64x64'
jitgemm-warm: --tune prints no JSON
Try "jitgemm-warm --help".
END
same "$work/want" "$work/log"
