# SPDX-License-Identifier: MIT
# Sourced by tests that run on the emulated device: names it, or skips.
set -eu
JITGEMM_LIBCUDA=$JG_BUILDDIR/tests/emu/.libs/libcuda-emu.so
[ -f "$JITGEMM_LIBCUDA" ] || { echo "no emulated driver was built"; exit 77; }
export JITGEMM_LIBCUDA

# Usage: must COMMAND...: on the emulated device nothing may be skipped, but
# for want of NVRTC.
must() {
    status=0
    "$@" || status=$?
    [ "$status" != 77 ] || { echo "skipped on the emulated device"; exit 1; }
    [ "$status" = 0 ] || exit "$status"
}
must_have_nvrtc() {
    "$JG_BUILDDIR/tests/n_specs" --find >/dev/null || [ $? != 77 ] ||
        { echo "no usable NVRTC"; exit 77; }
}
