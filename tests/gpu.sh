#!/bin/sh
# SPDX-License-Identifier: MIT
# All that needs a GPU, on a machine that need not be able to build.
# Usage: gpu.sh stage BUILD DIR   installs the library, the tool, the GPU tests
#                                 and the benchmark from a build tree into DIR
#        gpu.sh run DIR [LOG]     runs everything in DIR, the whole output in
#                                 folder LOG; a short table comes last
#        gpu.sh tests DIR [LOG]   the tests alone, about two minutes
#        gpu.sh sanitize DIR [LOG]  some tests under compute-sanitizer
#        gpu.sh bench DIR [LOG]   the benchmark alone, which takes minutes
#        gpu.sh layers DIR [LOG]  the layers of three models, likewise
set -eu

stage() {
    build=$1 dir=$2
    here=$(cd "$(dirname "$0")" && pwd)
    programs="tests/g_dependent tests/g_driver tests/g_experts
        tests/g_experts_bad tests/g_gemm tests/g_moe tests/g_mxfp4 tests/g_plan
        tests/g_quantize tests/g_quantize_bad tests/g_wrappers tests/n_specs
        tests/e_capture tests/e_contexts tests/e_graph tests/e_streams
        tests/bench/bench tests/bench/first examples/embedding
        examples/grouped_gemm examples/moe_layer"
    make -s -C "$build" $programs
    rm -rf "$dir"
    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
    make -s -C "$build" install DESTDIR="$dir/root" >/dev/null
    mkdir -p "$dir/bin" "$dir/lib"
    find "$dir/root" -name 'libjitgemm.so*' -exec cp -P {} "$dir/lib" \;
    find "$dir/root" -name jitgemm-warm -exec cp {} "$dir/bin" \;
    rm -rf "$dir/root"
    for program in $programs; do
        real=$build/${program%/*}/.libs/${program##*/}
        [ -f "$real" ] || real=$build/$program
        cp "$real" "$dir/bin"
    done
    cp "$here/gpu.sh" "$here"/bench/*.py "$here"/../examples/*.py "$dir"
}

# Usage: step NAME COMMAND...: runs it, $limit seconds at most, and adds a row
# to the table, which is said at once, lest all be lost with the machine.
limit=300
step() {
    name=$1
    shift
    status=0
    begun=$(date +%s)
    timeout $limit "$@" >"$log/$name" 2>&1 || status=$?
    case $status in
    0) result=pass ;;
    77) result=skip ;;
    *) result="FAIL ($status)" ;;
    esac
    printf '%-14s %-10s %3d s  %s\n' "$name" "$result" \
        $(($(date +%s) - begun)) "$(tail -n 1 "$log/$name")" |
        tee -a "$log/table"
}

start() {
    dir=$(cd "$1" && pwd)
    log=${2-$dir/log}
    mkdir -p "$log"
    : >"$log/table"
    LD_LIBRARY_PATH=$dir/lib${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}
    XDG_CACHE_HOME=$(mktemp -d)
    export LD_LIBRARY_PATH XDG_CACHE_HOME
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.limit \
        --format=csv,noheader >"$log/card" 2>&1 || true
}

# The libcublas that comes with PyTorch, if it does.
find_cublas() {
    python3 - <<'END'
import glob, importlib.util, os
torch = importlib.util.find_spec("torch")
beside = os.path.dirname(os.path.dirname(torch.origin)) if torch else "/none"
print(*sorted(glob.glob(beside + "/nvidia/cu*/lib/libcublas.so.*"))[:1])
END
}

use_cublas() {
    : "${JITGEMM_LIBCUBLAS=$(find_cublas)}"
    export JITGEMM_LIBCUBLAS
}

finish() {
    cat "$log/card" "$log/table"
    ! grep -q FAIL "$log/table"
}

# bf16 activations, next to vLLM's Marlin.
measure_marlin() {
    step w4a16 "$dir/bin/bench" --a bf16 --c bf16 --json "$log/w4a16.json"
    step marlin python3 "$dir/marlin.py" "$log/cases.json" "$log/w4a16.json"
    cat "$log/w4a16" "$log/marlin"
}

measure() {
    limit=500
    use_cublas
    rm -f "$log/bench.json"
    "$dir/bin/bench" --cases >"$log/cases.json"
    step bench "$dir/bin/bench" --json "$log/bench.json"
    step split-k "$dir/bin/bench" --split-k --json "$log/split-k.json" \
        $("$dir/bin/bench" --cases | sed -n 's/.*"case": "\(small[^"]*\)".*/\1/p')
    for b in nvfp4 mxfp4; do # the same activations
        step "b-$b" "$dir/bin/bench" --a bf16 --b $b --c bf16 --runs 3 \
            --json "$log/b-$b.json" gm1 gm2 decode prefill_up
        step "gpt-oss-$b" "$dir/bin/bench" --a bf16 --b $b --c bf16 --runs 3 \
            --model gpt-oss-20b --tokens 128 --json "$log/gpt-oss-$b.json"
    done
    step quantize-speed "$dir/bin/g_quantize" bench
    step experts-speed "$dir/bin/g_experts" bench
    step peers python3 "$dir/peers.py" "$log/cases.json" "$log/bench.json"
    [ ! -f "$log/bench.json" ] ||
        python3 "$dir/plot.py" "$log/bench.json" >"$log/bench.svg"
    cat "$log/bench" "$log/split-k" "$log"/b-*fp4 "$log"/gpt-oss-*fp4 \
        "$log/peers" "$log/quantize-speed" "$log/experts-speed"
    [ -z "${JITGEMM_LIBMARLIN-}" ] || measure_marlin
}

# The layers of public models, next to the peers.
measure_layers() {
    limit=500
    use_cublas
    for model in qwen3-30b gpt-oss-120b deepseek-v3; do
        layers="--model $model --tokens 1,16,128,8192"
        "$dir/bin/bench" --cases $layers >"$log/$model-cases.json"
        step "$model" "$dir/bin/bench" $layers --json "$log/$model.json"
        step "$model-peers" python3 "$dir/peers.py" "$log/$model-cases.json" \
            "$log/$model.json"
        cat "$log/$model" "$log/$model-peers"
    done
}

tests() {
    step first-cold "$dir/bin/first"
    step first-warm "$dir/bin/first"
    step first-again "$dir/bin/first"
    step driver "$dir/bin/g_driver"
    # The rest at once: neither the GPU nor the processors are busy with one.
    step example "$dir/bin/grouped_gemm" &
    step embedding "$dir/bin/embedding" &
    step specs "$dir/bin/n_specs" &
    step wrappers "$dir/bin/g_wrappers" &
    step gemm "$dir/bin/g_gemm" &
    step dependent "$dir/bin/g_dependent" &
    step experts "$dir/bin/g_experts" &
    step experts-bad "$dir/bin/g_experts_bad" &
    step moe "$dir/bin/g_moe" &
    step mxfp4 "$dir/bin/g_mxfp4" &
    step moe-layer "$dir/bin/moe_layer" &
    step torch python3 "$dir/moe_layer.py" --tokens 1 300 &
    step torch-bf16 python3 "$dir/moe_layer.py" --tokens 1 300 --a bf16 &
    step plan "$dir/bin/g_plan" &
    step quantize "$dir/bin/g_quantize" &
    step quantize-bad "$dir/bin/g_quantize_bad" &
    for rules in capture contexts graph streams; do # of the emulated driver
        step "$rules" "$dir/bin/e_$rules" &
    done
    wait
}

sanitize() {
    for tool in memcheck racecheck synccheck; do
        step "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 \
            "$dir/bin/g_gemm" small &
        step "$tool-experts" compute-sanitizer --tool "$tool" \
            --error-exitcode 9 "$dir/bin/g_experts_bad" small &
        step "$tool-quant" compute-sanitizer --tool "$tool" \
            --error-exitcode 9 "$dir/bin/g_quantize_bad" small &
        step "$tool-moe" compute-sanitizer --tool "$tool" \
            --error-exitcode 9 "$dir/bin/g_moe" small &
    done
    wait
}

command=$1
shift
case $command in
stage) stage "$@" ;;
tests) start "$@" && tests && finish ;;
sanitize) start "$@" && sanitize && finish ;;
bench) start "$@" && measure && finish ;;
layers) start "$@" && measure_layers && finish ;;
run) start "$@" && tests && sanitize && measure && measure_layers && finish ;;
esac
