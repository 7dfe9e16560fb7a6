#!/bin/sh
# SPDX-License-Identifier: MIT
# The example program: the whole way on a GPU, the kernels without one.
set -eu
example=$JG_BUILDDIR/examples/grouped_gemm
status=0

if [ ! -x "$example" ]; then
    echo "not built: no cuda.h"
    exit 77
fi
"$example" 1 >&2 || status=$?
[ $status -eq 0 ] && exit
"$example" 1 2>&1 | grep 'no usable NVRTC' && exit 77
exit $status
