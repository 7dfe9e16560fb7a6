#!/bin/sh
# SPDX-License-Identifier: MIT
# --model is the problems that its sizes say, each kernel once; what is wrong
# with it or with a configuration is said exactly, and nothing done.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
cd "$work"

run 0 --arch sm_90a --list --model mixtral-8x7b --tokens 64-100,512
empty err
cp out model
run 0 --arch sm_90a --list --problem 8@200/128x28672x4096 \
    --problem 8@200/128x4096x14336 --problem 8@200x28672x4096 \
    --problem 8@200x4096x14336 --problem 8@1024x28672x4096 \
    --problem 8@1024x4096x14336 --conversion f16+gather \
    --conversion f16+swiglu --conversion f16+combine-f16
same out model
[ "$(keys out | sort | uniq -d | wc -l)" -eq 0 ] || fail "a kernel twice"

# As a file, in parts, next to problems, which come first.
cat >config.json <<'END'
{
  "architectures": ["MixtralForCausalLM"],
  "text_config": {
    "num_local_experts": 8, "num_experts_per_tok": 2,
    "hidden_size": 4096, "intermediate_size": 28672, "rope_theta": 1e6
  }
}
END
run 0 --arch sm_90a --list --model config.json --tokens 64-100,512 --tp 2
same model out
run 0 --arch sm_90a --explain --model config.json --tokens 5 --c f32 \
    --problem 9x64x64
empty err
[ "$(grep -c '^\*.*f32' out)" -eq 3 ] || fail "not three choices of f32"
grep ': sm_90a' out | sed 's/: sm_90a.*//' >got
cat >want <<'END'
problem "9x64x64"
config.json/gate_up/5: problem "8@10/10x57344x4096"
config.json/down/5: problem "8@10/10x4096x28672"
END
same want got

# The conversions of a layer, as its types and its model ask for them.
# Usage: converts ARGUMENT...; the names of them are those on standard input.
converts() {
    run 0 --arch sm_90a --list --tokens 8 "$@"
    empty err
    sed -n 's/^[0-9a-f]*  sm_90a    //p' out |
        grep -E '^(quantize|cast|combine) ' >got
    cat >want
    same want got
}
converts --model qwen3-30b --c bf16 <<'END'
quantize bf16, stacked, tight, gather
quantize bf16, stacked, tight, swiglu
combine bf16 to bf16
END
converts --model qwen3-30b --a f16 --c bf16 <<'END'
cast f16 to f16, stacked, gather
cast bf16 to f16, stacked, swiglu
combine bf16 to f16
END
converts --model gpt-oss-20b --c bf16 <<'END'
cast bf16 to bf16, stacked, gather
cast bf16 to bf16, stacked, swiglu oai interleaved
combine bf16 to bf16
END
converts --model qwen3-30b --model mixtral-8x7b --c f32 <<'END'
quantize bf16, stacked, tight, gather
combine f32 to bf16
END
sed 's/"architectures"/"model_type": "gpt_oss", &/' config.json >oss.json
converts --model oss.json <<'END'
quantize f16, stacked, tight, gather
quantize f16, stacked, tight, swiglu oai interleaved
combine f16 to f16
END

# Every model that has a name; one GPU's part of it may be out of range.
names=$(run 2 --model none --tokens 1 && sed -n 's/.*name are //p' err)
for name in $(echo "$names" | tr -d ,); do
    run 0 --arch sm_90a --list --model "$name" --tokens 1-8192
    empty err
    run 0 --arch sm_100a --list --model "$name" --tokens 1-8192 --b nvfp4
    empty err
    has "$srcdir/lib/tool/jitgemm-warm.1" "^\.Cm.* $name\b"
done
[ "$(echo "$names" | wc -w)" -ge 10 ] || fail "not 10 models"
run 1 --arch sm_90a --list --model gpt-oss-20b --tokens 1 --tp 4
has err '^jitgemm-warm: gpt-oss-20b/down/1: problem .*: sm_90a: .*multiple of'
run 1 --arch sm_90a --list --model gpt-oss-20b --tokens 2147483647
has err 'gpt-oss-20b/down/2147483647: .*max_rows'

log_failure --model deepseek-v3
log_failure --tokens 1 --problem 8x64x64
log_failure --tp 1 --problem 8x64x64
log_failure --model deepseek-v3 --tokens 1 --list x
log_failure --model deepseek-v3 --tokens 1 --verify
for tp in 0 1025 x; do
    log_failure --model deepseek-v3 --tokens 1 --tp $tp
done
log_failure --model deepseek-v3 --tokens 1 --tp 3
for tokens in '' 0 x 1, 1,, 1- 2-1 1-2-3 1x2 2147483648; do
    log_failure --model deepseek-v3 --tokens "$tokens"
done
log_failure --model none --tokens 1
log_failure --model . --tokens 1
: >bad.json
log_failure --model bad.json --tokens 1
printf '{"a": 1,\n "b": 2,\n "c" 3}\n' >bad.json
log_failure --model bad.json --tokens 1
printf '{"num_experts": 8}\0' >bad.json
log_failure --model bad.json --tokens 1
printf '\n{"num_experts": "8"}' >bad.json
log_failure --model bad.json --tokens 1
printf '{"hidden_size": 8}' >bad.json
log_failure --model bad.json --tokens 1
dd if=/dev/zero of=bad.json bs=1048577 count=1 2>/dev/null
log_failure --model bad.json --tokens 1
same "$srcdir/tests/tool_model.out" log
