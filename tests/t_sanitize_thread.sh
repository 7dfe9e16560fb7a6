#!/bin/sh
# SPDX-License-Identifier: MIT
# The registry's and the cache's tests under the thread sanitizer.
exec sh "$JG_SRCDIR/tests/sanitize.sh" thread $JG_THREAD_TESTS
