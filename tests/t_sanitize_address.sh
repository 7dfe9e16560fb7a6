#!/bin/sh
# SPDX-License-Identifier: MIT
# The host tests under the address and undefined-behaviour sanitizers.
exec sh "$JG_SRCDIR/tests/sanitize.sh" address,undefined $JG_HOST_TESTS
