# SPDX-License-Identifier: MIT
# Example programs, built by `make` and not installed: ordinary users of the
# library, which see the public header only. Each one needs:
#   noinst_PROGRAMS += examples/NAME
#   examples_NAME_SOURCES = examples/NAME.c
#   examples_NAME_CPPFLAGS = -I$(srcdir)/include $(CUDA_CPPFLAGS)
#   examples_NAME_LDADD = libjitgemm.la
