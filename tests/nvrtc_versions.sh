#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: nvrtc_versions.sh [PIP-REQUIREMENT...]
# Fetches releases of NVRTC as Python wheels, below nvrtc/ in the build folder,
# and tests with each: every kernel compiles without a warning, the emulated
# device runs what comes out, and no two releases share a key.
# make check-nvrtc runs it; it is no part of make check, since it downloads.
set -eu
cd "$JG_BUILDDIR"
[ $# -gt 0 ] || set -- 'nvidia-cuda-nvrtc-cu12==12.8.*' \
    'nvidia-cuda-nvrtc==13.0.*' nvidia-cuda-nvrtc
mkdir -p nvrtc
: >nvrtc/keys

# Usage: passes COMMAND...: may not be skipped either.
passes() {
    "$@" >nvrtc/log 2>&1 || { status=$?
        cat nvrtc/log
        echo "failed with status $status: $*"
        exit 1; }
}

for wheel; do
    folder=nvrtc/$(printf %s "$wheel" | sed 's/[^A-Za-z0-9.]/_/g')
    [ -d "$folder" ] || passes python3 -m pip install --quiet --no-deps \
        --target "$folder" "$wheel"
    JITGEMM_LIBNVRTC=$(dirname "$PWD/$folder"/nvidia/*/lib/libnvrtc.so.1?)
    export JITGEMM_LIBNVRTC
    echo "$wheel: $(ls -d "$folder"/*.dist-info)"
    passes tests/n_specs --all
    sed -n '$s/^/  n_specs: /p' nvrtc/log
    # Blackwell's instructions: refused before 12.9.
    status=0
    tests/n_ptx >nvrtc/log 2>&1 || status=$?
    [ "$status" = 0 ] || { [ "$status" = 77 ] && grep block16 nvrtc/log; } ||
        { cat nvrtc/log; exit 1; }
    sed -n '$s/^/  n_ptx: /p' nvrtc/log
    if [ -f tests/emu/.libs/libcuda-emu.so ]; then
        JITGEMM_LIBCUDA=$PWD/tests/emu/.libs/libcuda-emu.so \
            passes tests/g_gemm public
        sed -n '$s/^/  g_gemm on the emulated device: /p' nvrtc/log
    fi
    passes ./jitgemm-warm --arch sm_90a --problem 80,176x4096x7168 --list
    grep -o '[0-9a-f]\{32\}' nvrtc/log >>nvrtc/keys
done
shared=$(sort nvrtc/keys | uniq -d)
[ -s nvrtc/keys ] && [ -z "$shared" ] ||
    { echo "keys of two releases: ${shared:-none}"; exit 1; }
echo "$# releases, $(sort -u nvrtc/keys | wc -l) keys, none shared"
