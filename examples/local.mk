# SPDX-License-Identifier: MIT
# Example programs: built by `make`, installed nowhere, public header only.
# Each one is added to noinst_PROGRAMS and gets the two lines shown here:
#   examples_NAME_CPPFLAGS = -I$(srcdir)/include
#   examples_NAME_LDADD = libjitgemm.la
