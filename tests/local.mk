# SPDX-License-Identifier: MIT
# Tests. A program's source is the file of its name: to add one, add its name
# to a list here. All link the whole library statically, internals included.

# Units of the host code: no CUDA, no network. Run under sanitizers too.
host_tests =
# Those that deserve the thread sanitizer.
thread_tests =
# NVRTC compiles every kernel; skipped without libnvrtc.
nvrtc_tests =
# On a GPU; skipped without one. Each binary may be carried elsewhere alone.
gpu_tests =
script_tests = \
	tests/t_headers.sh \
	tests/t_kernel_rules.sh \
	tests/t_layers.sh \
	tests/t_sanitize_address.sh \
	tests/t_sanitize_thread.sh \
	tests/t_symbols.sh
# The command-line tool.
tool_tests =

check_PROGRAMS += $(host_tests) $(nvrtc_tests) $(gpu_tests)
LDADD = libjg.la
TESTS = $(check_PROGRAMS) $(script_tests) $(tool_tests)

EXTRA_DIST += tests/test.h tests/lint.sh tests/sanitize.sh $(script_tests) \
	$(tool_tests)

TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
# No test sees the user's cache, home or settings.
AM_TESTS_ENVIRONMENT = \
	$(MKDIR_P) tests/home/cache; \
	HOME='$(abs_top_builddir)/tests/home'; \
	XDG_CACHE_HOME="$$HOME/cache"; \
	export HOME XDG_CACHE_HOME; \
	unset JITGEMM_ `env | $(SED) -n 's/^\(JITGEMM_[A-Z_]*\)=.*/\1/p'`; \
	JG_SRCDIR='$(abs_srcdir)'; JG_BUILDDIR='$(abs_builddir)'; \
	JG_HOST_TESTS='$(host_tests)'; JG_THREAD_TESTS='$(thread_tests)'; \
	JG_WITH_CUDA='$(with_cuda)'; JG_CUDA_CPPFLAGS='$(CUDA_CPPFLAGS)'; \
	CC='$(CC)'; CXX='$(CXX)'; NM='$(NM)'; MAKE='$(MAKE)'; \
	export JG_SRCDIR JG_BUILDDIR JG_HOST_TESTS JG_THREAD_TESTS \
	    JG_WITH_CUDA JG_CUDA_CPPFLAGS CC CXX NM MAKE;

clean-local: clean-tests
clean-tests:
	rm -rf tests/home sanitize-address sanitize-thread
.PHONY: clean-tests
