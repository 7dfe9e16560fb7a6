#!/bin/sh
# SPDX-License-Identifier: MIT
# The benchmark end to end on the emulated device, its own kernels included,
# with a cuBLAS that computes on the host, one that computes it wrong, and
# none. The figures mean nothing.
. "$JG_SRCDIR/tests/with_emu.sh"
must_have_nvrtc
work=$JG_BUILDDIR/tests/emu_work/bench
bench=$JG_BUILDDIR/tests/bench/bench
mkdir -p "$work"
JITGEMM_LIBCUBLAS=$JG_FAKES/fake_cublas.so
export JITGEMM_LIBCUBLAS

must "$bench" --tiny --runs 2 --json "$work/two.json" public_1
# All four peers agree with the library; none counts that is an eighth off.
status=0
FAKE_CUBLAS_WRONG=1 "$bench" --tiny --json "$work/wrong.json" public_1 \
    2>"$work/wrong" || status=$?
cat "$work/wrong"
[ "$status" = 1 ] || { echo "exit status $status with wrong peers"; exit 1; }
[ "$(grep -c 'public_1, cublas_.*: [0-9]* wrong' "$work/wrong")" = 4 ] ||
    { echo "wrong peers are not told of"; exit 1; }
JITGEMM_LIBCUBLAS=/nonexistent must "$bench" --tiny --json "$work/none.json" \
    public_1 2>"$work/none"
grep '^no cuBLAS: ' "$work/none"
must "$bench" --tiny --a bf16 --c f32 --split-k public_1
must "$bench" --tiny --b mxfp4 --c bf16 public_1 >"$work/mxfp4"
cat "$work/mxfp4"
grep -q 'public_1 .* mxfp4 to bf16' "$work/mxfp4"

"$bench" --cases >"$work/cases.json"
"$bench" --cases --model deepseek-v3 --tokens 64,1 >"$work/model.json"
if "$bench" --cases --model unheard-of 2>/dev/null; then
    echo "takes a model that it does not know"
    exit 1
fi
for tokens in 1, 1,x 0 65537 1,2,3,4,5,6,7,8,9; do
    if "$bench" --cases --tokens $tokens 2>/dev/null; then
        echo "takes $tokens tokens"
        exit 1
    fi
done
python3 -c 'import json' 2>/dev/null || { echo "no python3"; exit 0; }
python3 - "$work" <<'END'
import json
import sys


def read(name):
    with open(f"{sys.argv[1]}/{name}.json", encoding="utf-8") as file:
        return json.load(file)


two, wrong, none = read("two"), read("wrong"), read("none")
assert two["rate"] > 0 and two["bandwidth"] > 0, two
assert two["device"] and two["driver"] and two["date"] and two["cublas"]
case, = two["cases"]
assert sorted(case["peers"]) == [
    f"cublas_{how}_{type}" for how in ("grouped", "per_group")
    for type in ("bf16", "f16")], case
assert case["low"] <= case["us"] <= case["high"], case
limit = max(case["flops"] / two["rate"], case["bytes"] / two["bandwidth"])
assert abs(case["limit_us"] / (limit / 1e6) - 1) < 0.01, case
assert not wrong["cases"][0]["peers"] and not none["cases"][0]["peers"]
assert none["rate"] == 0 < none["bandwidth"]
cases = {case["case"]: case for case in read("cases")}
assert "gm1" in cases and "public_1" not in cases
assert sum(cases["uneven"]["m"]) == sum(cases["even"]["m"])
gate_up, down, _, one = read("model")
assert (gate_up["case"], down["n"], down["k"]) == (
    "deepseek-v3/gate_up/64", 7168, 2048)
assert sum(gate_up["m"]) == 8 * 64 and gate_up["m"] == down["m"]
assert one["case"] == "deepseek-v3/down/1" and sum(one["m"]) == 8
END
