# SPDX-License-Identifier: MIT
# The public header and its manual page.
include_HEADERS = include/jitgemm.h
dist_man_MANS += include/jitgemm.3
