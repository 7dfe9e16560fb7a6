# SPDX-License-Identifier: MIT
# Example programs, built by `make` and not installed: ordinary users of the
# library, which see the public header only. Each one needs:
#   noinst_PROGRAMS += examples/NAME
#   examples_NAME_SOURCES = examples/NAME.c
#   examples_NAME_CPPFLAGS = -I$(srcdir)/include $(CUDA_CPPFLAGS)
#   examples_NAME_LDADD = libjitgemm.la
noinst_PROGRAMS += examples/grouped_gemm
examples_grouped_gemm_SOURCES = examples/grouped_gemm.c \
	examples/cuda_driver.h examples/matrices.h
examples_grouped_gemm_CPPFLAGS = -I$(srcdir)/include $(CUDA_CPPFLAGS)
examples_grouped_gemm_LDADD = libjitgemm.la
noinst_PROGRAMS += examples/moe_layer
examples_moe_layer_SOURCES = examples/moe_layer.c examples/moe_layer.h \
	examples/cuda_driver.h examples/matrices.h
examples_moe_layer_CPPFLAGS = -I$(srcdir)/include $(CUDA_CPPFLAGS)
examples_moe_layer_LDADD = libjitgemm.la
if HAVE_CXX17
noinst_PROGRAMS += examples/embedding
endif
examples_embedding_SOURCES = examples/embedding.cc examples/cuda_driver.h
examples_embedding_CPPFLAGS = -I$(srcdir)/include $(CUDA_CPPFLAGS)
examples_embedding_LDADD = libjitgemm.la
EXTRA_DIST += examples/jitgemm.py examples/moe_layer.py
