# SPDX-License-Identifier: MIT
# Tests. A program's source is the file of its name: to add one, add its name
# to a list here. All link the whole library statically, internals included.

# Readers of untrusted bytes, on seeds and variations of them.
fuzz_tests = \
	tests/fuzz/fuzz_config \
	tests/fuzz/fuzz_entry \
	tests/fuzz/fuzz_key \
	tests/fuzz/fuzz_pack \
	tests/fuzz/fuzz_tuning

# Units of the host code: no CUDA, no network. Run under sanitizers too.
host_tests = \
	tests/t_api \
	tests/t_bias \
	tests/t_bind \
	tests/t_async \
	tests/t_buf \
	tests/t_cache \
	tests/t_cache_dir \
	tests/t_cache_disk \
	tests/t_cache_evict \
	tests/t_cache_faults \
	tests/t_cache_kill \
	tests/t_cache_layers \
	tests/t_cache_lock \
	tests/t_cache_setuid \
	tests/t_cache_trust \
	tests/t_cases \
	tests/t_compile \
	tests/t_compiler \
	tests/t_compiler_places \
	tests/t_conversion \
	tests/t_conversion_arguments \
	tests/t_dependent \
	tests/t_driver \
	tests/t_entries \
	tests/t_entry \
	tests/t_env \
	tests/t_event \
	tests/t_exit \
	tests/t_expert_arguments \
	tests/t_file \
	tests/t_fork \
	tests/t_freeze \
	tests/t_input \
	tests/t_key \
	tests/t_limit \
	tests/t_no_nvrtc \
	tests/t_nvfp4 \
	tests/t_nvfp4_nearest \
	tests/t_nvfp4_scales \
	tests/t_pack \
	tests/t_pack_open \
	tests/t_plan \
	tests/t_rebuild \
	tests/t_processes \
	tests/t_reference \
	tests/t_reference_conversion \
	tests/t_reference_product \
	tests/t_registry \
	tests/t_sha256 \
	tests/t_settings \
	tests/t_run \
	tests/t_stats \
	tests/t_status \
	tests/t_stock \
	tests/t_tool \
	tests/t_tool_json \
	tests/t_tool_models \
	tests/t_tune \
	tests/t_tuned \
	tests/t_tuning \
	$(fuzz_tests)
# Those that deserve the thread sanitizer.
thread_tests = \
	tests/t_async \
	tests/t_cache \
	tests/t_cache_lock \
	tests/t_fork \
	tests/t_event \
	tests/t_freeze \
	tests/t_no_nvrtc \
	tests/t_registry \
	tests/t_stats \
	tests/t_tool
# NVRTC compiles every kernel; skipped without libnvrtc.
nvrtc_tests = \
	tests/n_fork \
	tests/n_ptx \
	tests/n_repeat \
	tests/n_specs
# On a GPU; skipped without one. Each binary may be carried elsewhere alone.
gpu_tests = \
	tests/g_driver \
	tests/g_dependent \
	tests/g_experts \
	tests/g_experts_bad \
	tests/g_gemm \
	tests/g_moe \
	tests/g_mxfp4 \
	tests/g_plan \
	tests/g_quantize \
	tests/g_quantize_bad
if HAVE_CXX17
gpu_tests += tests/g_wrappers
endif
# Those that take long come first, so that none is left to run alone.
script_tests = \
	tests/emu_quantize.sh \
	tests/emu_wrappers.sh \
	tests/bench_emu.sh \
	tests/bench_plot.sh \
	tests/emu_driver.sh \
	tests/emu_example.sh \
	tests/emu_dependent.sh \
	tests/emu_own_table.sh \
	tests/emu_experts.sh \
	tests/emu_python.sh \
	tests/emu_gemm.sh \
	tests/emu_moe.sh \
	tests/emu_moe_layer.sh \
	tests/emu_mxfp4.sh \
	tests/emu_no_nvrtc.sh \
	tests/emu_overlap.sh \
	tests/emu_plan.sh \
	tests/emu_sm100.sh \
	tests/emu_tune.sh \
	tests/n_sass.sh \
	tests/t_emu_names.sh \
	tests/t_headers.sh \
	tests/t_kernel_rules.sh \
	tests/t_layers.sh \
	tests/t_pages.sh \
	tests/t_symbols.sh \
	tests/t_wrapper_names.sh
# The host tests, built again: "make check-sanitizers".
sanitizer_tests = \
	tests/t_sanitize_address.sh \
	tests/t_sanitize_thread.sh
# The command-line tool.
tool_tests = \
	tests/tool_arch.sh \
	tests/tool_cache.sh \
	tests/tool_damage.sh \
	tests/tool_diff.sh \
	tests/tool_example.sh \
	tests/tool_explain.sh \
	tests/tool_file.sh \
	tests/tool_help.sh \
	tests/tool_json.sh \
	tests/tool_model.sh \
	tests/tool_packs.sh \
	tests/tool_rebuild.sh \
	tests/tool_prune.sh \
	tests/tool_types.sh \
	tests/tool_usage.sh

# Every kernel on the emulator, compiled by the tests themselves.
emu_tests =
if HAVE_CXX17
emu_tests += \
	tests/e_barrier \
	tests/e_bugs \
	tests/e_cluster \
	tests/e_cluster_async \
	tests/e_copy \
	tests/e_find_group \
	tests/e_half \
	tests/e_maps \
	tests/e_gemm \
	tests/e_multicast_bugs \
	tests/e_quantize \
	tests/e_tcgen05 \
	tests/e_tcgen05_descriptor \
	tests/e_tcgen05_layout \
	tests/e_tcgen05_rules \
	tests/e_tcgen05_shared \
	tests/e_tensor_memory \
	tests/e_swiglu \
	tests/e_warp \
	tests/e_wgmma
endif

# Of the emulated driver; tests/emu_driver.sh runs them.
driver_tests = \
	tests/e_api \
	tests/e_capture \
	tests/e_contexts \
	tests/e_cubin \
	tests/e_driver \
	tests/e_graph \
	tests/e_launch \
	tests/e_ready \
	tests/e_streams

check_PROGRAMS += $(host_tests) $(nvrtc_tests) $(gpu_tests) $(emu_tests) \
	$(driver_tests)
LDADD = tests/libtest.la libjg.la

# Makes packs for the tests of the tool.
check_PROGRAMS += tests/make_pack

# What several tests share.
check_LTLIBRARIES = tests/libtest.la
tests_libtest_la_SOURCES = \
	tests/cases.c tests/cases.h \
	tests/check_error.h tests/conversion_case.c tests/conversion_case.h \
	tests/combine_case.c tests/combine_case.h \
	tests/emu_calls.c tests/emu_calls.h \
	tests/fake/fakes.c tests/fake/fakes.h \
	tests/gpu.c tests/gpu.h \
	tests/graph_time.c tests/graph_time.h \
	lib/tool/moe_models.c tests/models.c tests/models.h \
	tests/nvrtc_kernel.c tests/nvrtc_kernel.h \
	tests/product.c tests/product.h \
	tests/reference.c tests/reference.h tests/reference_conversion.c \
	tests/reference_product.c \
	tests/reference_rows.c tests/reference_rows.h \
	tests/expert_case.c tests/expert_case.h \
	tests/entries.h tests/one_entry.h tests/one_pack.h tests/sample.h \
	tests/scratch.h tests/some_cache.h tests/some_entries.h tests/test.h

tests_g_experts_SOURCES = tests/g_experts.c \
	tests/experts_bench.c tests/experts_bench.h
tests_g_quantize_SOURCES = tests/g_quantize.c \
	tests/combine_bench.c tests/combine_bench.h \
	tests/quantize_bench.c tests/quantize_bench.h \
	tests/quantize_far.c tests/quantize_far.h

fuzz_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests
fuzz_shared = tests/fuzz/fuzz_driver.c tests/fuzz/fuzz.h tests/fuzz/seal.h
# A configuration's reader, without the library.
config_units = lib/tool/common.c lib/tool/json_read.c \
	lib/tool/model_config.c lib/tool/moe_models.c lib/tool/text.c \
	lib/tool/utf8.c
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c $(fuzz_shared) \
	$(config_units)
tests_fuzz_fuzz_config_CPPFLAGS = $(fuzz_CPPFLAGS)
tests_fuzz_fuzz_entry_SOURCES = tests/fuzz/fuzz_entry.c $(fuzz_shared)
tests_fuzz_fuzz_entry_CPPFLAGS = $(fuzz_CPPFLAGS)
tests_fuzz_fuzz_key_SOURCES = tests/fuzz/fuzz_key.c $(fuzz_shared)
tests_fuzz_fuzz_key_CPPFLAGS = $(fuzz_CPPFLAGS)
tests_fuzz_fuzz_pack_SOURCES = tests/fuzz/fuzz_pack.c $(fuzz_shared)
tests_fuzz_fuzz_pack_CPPFLAGS = $(fuzz_CPPFLAGS)
tests_fuzz_fuzz_tuning_SOURCES = tests/fuzz/fuzz_tuning.c $(fuzz_shared)
tests_fuzz_fuzz_tuning_CPPFLAGS = $(fuzz_CPPFLAGS)

# Counts the library's calls of these.
tests_t_run_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock

# The tool's parts without the library.
tests_t_tool_SOURCES = tests/t_tool.c lib/tool/common.c \
	lib/tool/json.c lib/tool/kernel_list.c lib/tool/problem_list.c \
	lib/tool/problem_text.c lib/tool/report.c lib/tool/text.c \
	lib/tool/utf8.c
tests_t_tool_CPPFLAGS = -I$(srcdir)/include -I$(srcdir)/lib/tool
tests_t_tool_LDADD =
tests_t_tool_json_SOURCES = tests/t_tool_json.c lib/tool/json_read.c \
	lib/tool/text.c lib/tool/utf8.c
tests_t_tool_json_CPPFLAGS = $(tests_t_tool_CPPFLAGS)
tests_t_tool_json_LDADD =
tests_t_tool_models_SOURCES = tests/t_tool_models.c $(config_units) \
	lib/tool/model_list.c lib/tool/problem_list.c lib/tool/problem_text.c
tests_t_tool_models_CPPFLAGS = $(tests_t_tool_CPPFLAGS)
tests_t_tool_models_LDADD =

# The emulator, to be linked into shared objects with a kernel each.
emu_headers = \
	tests/emu/async.h tests/emu/barrier.h tests/emu/cluster.h \
	tests/emu/emu.h \
	tests/emu/emu_launch.h tests/emu/fault.h tests/emu/fiber.h \
	tests/emu/global.h tests/emu/half.h tests/emu/instructions.h \
	tests/emu/knowledge.h tests/emu/machine.h tests/emu/map_edits.h \
	tests/emu/operand.h tests/emu/order.h tests/emu/race.h \
	tests/emu/random.h tests/emu/registers.h tests/emu/report.h \
	tests/emu/shared.h tests/emu/stacks.h tests/emu/swizzle.h tests/emu/tcgen05.h \
	tests/emu/tcgen05_arithmetic.h tests/emu/tcgen05_descriptor.h \
	tests/emu/tensor_access.h tests/emu/tensor_knowledge.h \
	tests/emu/tensor_map.h tests/emu/tensor_memory.h tests/emu/unit.h tests/emu/wgmma.h tests/emu/wgmma_accumulator.h
emu_ptx = \
	tests/emu/ptx/cluster.cuh \
	tests/emu/ptx/float.cuh \
	tests/emu/ptx/half.cuh tests/emu/ptx/mbarrier.cuh \
	tests/emu/ptx/memory.cuh tests/emu/ptx/sync.cuh \
	tests/emu/ptx/warp.cuh \
	tests/emu/ptx/tcgen05.cuh tests/emu/ptx/tensormap.cuh \
	tests/emu/ptx/tma.cuh tests/emu/ptx/wgmma.cuh
EXTRA_DIST += $(emu_ptx)
check_LIBRARIES =
if HAVE_CXX17
check_LIBRARIES += tests/emu/libemu.a
check_LTLIBRARIES += tests/libemutest.la
endif
tests_emu_libemu_a_SOURCES = \
	tests/emu/access.cc tests/emu/barrier.cc tests/emu/cluster.cc \
	tests/emu/copy.cc \
	tests/emu/engines.cc tests/emu/fault.cc tests/emu/fiber.cc \
	tests/emu/global.cc tests/emu/map_edits.cc tests/emu/operand.cc \
	tests/emu/order.cc tests/emu/proxy_fence.cc tests/emu/race.cc \
	tests/emu/registers.cc tests/emu/report.cc tests/emu/scheduler.cc \
	tests/emu/shared.cc tests/emu/tcgen05.cc \
	tests/emu/tcgen05_arithmetic.cc tests/emu/tcgen05_descriptor.cc \
	tests/emu/tcgen05_pair.cc tests/emu/tcgen05_pair.h \
	tests/emu/tcgen05_warp.cc tests/emu/tensor_access.cc \
	tests/emu/tensor_knowledge.cc tests/emu/tensor_memory.cc tests/emu/warp.cc tests/emu/wgmma.cc \
	tests/emu/wgmma_accumulator.cc tests/emu/wgmma_arithmetic.cc \
	$(emu_headers)
# Most of its time goes into loops over what threads know.
tests_emu_libemu_a_CXXFLAGS = $(AM_CXXFLAGS) -O2 -ftree-vectorize -fPIC \
	-fvisibility=hidden

# What tests of emulated kernels share.
tests_libemutest_la_SOURCES = \
	tests/emu/compile.cc tests/emu/compile.h \
	tests/emu/gemm_case.cc tests/emu/gemm_case.h \
	tests/emu/multicast_case.cc tests/emu/multicast_case.h \
	tests/emu/planted.cc tests/emu/planted.h
emutest_LDADD = tests/libemutest.la $(LDADD)
tests_e_bugs_SOURCES = tests/e_bugs.cc tests/emu/planted_blackwell_bugs.h \
	tests/emu/planted_hopper_bugs.h tests/emu/planted_pair_bugs.h \
	tests/emu/planted_split_bugs.h \
	tests/emu/planted_tensor_bugs.h tests/emu/planted_tile_bugs.h
tests_e_bugs_LDADD = $(emutest_LDADD)
tests_e_multicast_bugs_SOURCES = tests/e_multicast_bugs.cc \
	tests/emu/planted_multicast_bugs.h
tests_e_multicast_bugs_LDADD = $(emutest_LDADD)
EXTRA_DIST += tests/multicast_pipeline.cu tests/python_experts.py
tests_e_find_group_SOURCES = tests/e_find_group.cc
tests_e_find_group_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_find_group_LDADD = $(emu_LDADD)
tests_e_half_SOURCES = tests/e_half.cc
# Those that are kernels themselves.
emu_CPPFLAGS = -I$(srcdir)/tests/emu -I$(srcdir)/tests $(AM_CPPFLAGS)
emu_LDADD = tests/emu/libemu.a $(LDADD)
tests_e_barrier_SOURCES = tests/e_barrier.cc
tests_e_barrier_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_barrier_LDADD = $(emu_LDADD)
tests_e_cluster_SOURCES = tests/e_cluster.cc tests/emu/cluster_unit.h
tests_e_cluster_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_cluster_LDADD = $(emu_LDADD)
tests_e_cluster_async_SOURCES = tests/e_cluster_async.cc \
	tests/emu/cluster_unit.h
tests_e_cluster_async_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_cluster_async_LDADD = $(emu_LDADD)
tests_e_copy_SOURCES = tests/e_copy.cc
tests_e_copy_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_copy_LDADD = $(emu_LDADD)
tests_e_tcgen05_SOURCES = tests/e_tcgen05.cc tests/emu/tensor_product.h
tests_e_tcgen05_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_tcgen05_LDADD = $(emu_LDADD)
tests_e_tcgen05_layout_SOURCES = tests/e_tcgen05_layout.cc
tests_e_tcgen05_layout_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_tcgen05_layout_LDADD = $(emu_LDADD)
tests_e_maps_SOURCES = tests/e_maps.cc
tests_e_maps_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_maps_LDADD = $(emu_LDADD)
tests_e_tcgen05_descriptor_SOURCES = tests/e_tcgen05_descriptor.cc \
	tests/emu/tensor_unit.h
tests_e_tcgen05_descriptor_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_tcgen05_descriptor_LDADD = $(emu_LDADD)
tests_e_tcgen05_rules_SOURCES = tests/e_tcgen05_rules.cc \
	tests/emu/tensor_unit.h
tests_e_tcgen05_rules_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_tcgen05_rules_LDADD = $(emu_LDADD)
tests_e_tcgen05_shared_SOURCES = tests/e_tcgen05_shared.cc \
	tests/emu/tensor_unit.h
tests_e_tcgen05_shared_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_tcgen05_shared_LDADD = $(emu_LDADD)
tests_e_tensor_memory_SOURCES = tests/e_tensor_memory.cc \
	tests/emu/tensor_unit.h
tests_e_tensor_memory_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_tensor_memory_LDADD = $(emu_LDADD)
tests_e_quantize_SOURCES = tests/e_quantize.cc
tests_e_quantize_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_quantize_LDADD = $(emu_LDADD)
tests_e_swiglu_SOURCES = tests/e_swiglu.cc
tests_e_swiglu_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_swiglu_LDADD = $(emu_LDADD)
tests_e_warp_SOURCES = tests/e_warp.cc
tests_e_warp_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_warp_LDADD = $(emu_LDADD)
tests_e_wgmma_SOURCES = tests/e_wgmma.cc
tests_e_wgmma_CPPFLAGS = $(emu_CPPFLAGS)
tests_e_wgmma_LDADD = $(emu_LDADD)
tests_e_gemm_SOURCES = tests/e_gemm.cc
tests_e_gemm_LDADD = $(emutest_LDADD)

# The wrappers on a GPU and on the emulator. The texts of the kernels are in
# the program twice: as text for NVRTC, and compiled for the emulator.
wrapper_kernels = \
	tests/wrappers/barrier.cu tests/wrappers/cluster.cu \
	tests/wrappers/copies.cu \
	tests/wrappers/first.cu tests/wrappers/float.cu \
	tests/wrappers/half.cu \
	tests/wrappers/job.h tests/wrappers/memory.cu \
	tests/wrappers/registers.cu tests/wrappers/second.cu \
	tests/wrappers/sync.cu tests/wrappers/wgmma.cuh \
	tests/wrappers/wgmma_8.cu tests/wrappers/wgmma_16.cu \
	tests/wrappers/wgmma_32.cu tests/wrappers/wgmma_48.cu \
	tests/wrappers/wgmma_64.cu tests/wrappers/wgmma_80.cu \
	tests/wrappers/wgmma_96.cu tests/wrappers/wgmma_112.cu \
	tests/wrappers/wgmma_128.cu tests/wrappers/wgmma_160.cu \
	tests/wrappers/wgmma_192.cu tests/wrappers/wgmma_224.cu \
	tests/wrappers/wgmma_256.cu
tests_g_wrappers_SOURCES = tests/g_wrappers.c \
	tests/wrappers/both.c tests/wrappers/both.h \
	tests/wrappers/cases.h tests/wrappers/cases_barrier.c \
	tests/wrappers/cases_cluster.c \
	tests/wrappers/cases_copies.c tests/wrappers/cases_float.c \
	tests/wrappers/cases_half.c \
	tests/wrappers/cases_threads.c tests/wrappers/cases_wgmma.c \
	tests/wrappers/compiled.c tests/wrappers/compiled.h \
	tests/wrappers/on_emulator.c tests/wrappers/on_gpu.c \
	tests/wrappers/programs.h \
	tests/wrappers/wgmma_inputs.c tests/wrappers/wgmma_inputs.h
nodist_tests_g_wrappers_SOURCES = tests/wrappers/texts.c
tests_g_wrappers_CPPFLAGS = $(emu_CPPFLAGS)
tests_g_wrappers_LDADD = tests/wrappers/libemulated.a $(emu_LDADD)
# May be carried to where there is no C++.
tests_g_wrappers_LINK = $(CXXLINK) -static-libstdc++ -static-libgcc
# Kernels tell the emulator of their accesses, as compile.cc has it; the
# thread sanitizer's library is not linked.
if HAVE_CXX17
check_LIBRARIES += tests/wrappers/libemulated.a
endif
tests_wrappers_libemulated_a_SOURCES = tests/wrappers/emulated.cc \
	tests/wrappers/programs.h
tests_wrappers_libemulated_a_CPPFLAGS = $(emu_CPPFLAGS)
tests_wrappers_libemulated_a_CXXFLAGS = -std=c++17 $(warnings) \
	-Wno-unknown-pragmas -ffp-contract=off -fsanitize=thread
EXTRA_DIST += $(wrapper_kernels)
CLEANFILES += tests/wrappers/texts.c
tests/wrappers/texts.c: $(wrapper_kernels) kernel_src/embed.sh tests/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	SED='$(SED)' $(SHELL) $(srcdir)/kernel_src/embed.sh $(srcdir) \
	    $(wrapper_kernels) | \
	    $(SED) 's/jg_kernel_texts/wrapper_texts/g' >$@-t && \
	mv -f $@-t $@

# What the library takes for granted of a driver.
hold_kernel = tests/driver/hold.cu tests/driver/hold_job.h
tests_g_driver_SOURCES = tests/g_driver.c \
	tests/driver/hold.c tests/driver/hold.h \
	tests/driver/image_list.c tests/driver/image_list.h \
	tests/driver/part_capture.c tests/driver/part_images.c \
	tests/driver/part_overlap.c tests/driver/part_times.c \
	tests/driver/parts.h
nodist_tests_g_driver_SOURCES = tests/driver/texts.c
tests_g_driver_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests
EXTRA_DIST += $(hold_kernel)
CLEANFILES += tests/driver/texts.c
tests/driver/texts.c: $(hold_kernel) kernel_src/embed.sh tests/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	SED='$(SED)' $(SHELL) $(srcdir)/kernel_src/embed.sh $(srcdir) \
	    $(hold_kernel) | \
	    $(SED) 's/jg_kernel_texts/hold_texts/g' >$@-t && \
	mv -f $@-t $@

if ENABLE_SHARED
# Stand-ins for libcuda and libnvrtc. An rpath makes libtool build a shared
# module of what is not installed.
check_LTLIBRARIES += tests/fake/fake_cuda.la tests/fake/fake_nvrtc.la \
	tests/fake/fake_old_nvrtc.la tests/fake/fake_cublas.la
fake_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_fake_fake_cuda_la_SOURCES = tests/fake/fake_cuda.c tests/fake/fake_cuda.h
tests_fake_fake_cuda_la_LDFLAGS = $(fake_LDFLAGS)
tests_fake_fake_cuda_la_LIBADD =
# It rounds as the reference does.
tests_fake_fake_cublas_la_SOURCES = tests/fake/fake_cublas.c \
	tests/reference.c tests/reference.h
tests_fake_fake_cublas_la_CPPFLAGS = $(bench_CPPFLAGS)
tests_fake_fake_cublas_la_LDFLAGS = $(fake_LDFLAGS)
tests_fake_fake_cublas_la_LIBADD = -lm
tests_fake_fake_nvrtc_la_SOURCES = tests/fake/fake_nvrtc.c \
	tests/fake/fake_nvrtc.h
# The library tells releases of NVRTC apart by their build ids.
tests_fake_fake_nvrtc_la_LDFLAGS = $(fake_LDFLAGS) -Wl,--build-id
tests_fake_fake_nvrtc_la_LIBADD =
# As some releases are: without a build id, and without what came later.
tests_fake_fake_old_nvrtc_la_SOURCES = $(tests_fake_fake_nvrtc_la_SOURCES)
tests_fake_fake_old_nvrtc_la_CPPFLAGS = $(AM_CPPFLAGS) -DFAKE_OLD
tests_fake_fake_old_nvrtc_la_LDFLAGS = $(fake_LDFLAGS) -Wl,--build-id=none
tests_fake_fake_old_nvrtc_la_LIBADD =
endif

# A libcuda that runs kernels on the emulator: JITGEMM_LIBCUDA names it.
if ENABLE_SHARED
if HAVE_CXX17
check_LTLIBRARIES += tests/emu/libcuda-emu.la
endif
endif
tests_emu_libcuda_emu_la_SOURCES = \
	tests/emu/compile.cc tests/emu/compile.h \
	tests/emu/driver/api_capture.cc tests/emu/driver/api_context.cc \
	tests/emu/driver/api_copy.cc tests/emu/driver/api_device.cc \
	tests/emu/driver/api_error.cc tests/emu/driver/api_event.cc \
	tests/emu/driver/api_graph.cc tests/emu/driver/api_launch.cc \
	tests/emu/driver/api_library.cc tests/emu/driver/api_memory.cc \
	tests/emu/driver/api_stream.cc tests/emu/driver/api_tensor_map.cc \
	tests/emu/driver/call.cc tests/emu/driver/call.h \
	tests/emu/driver/capture.cc tests/emu/driver/capture.h \
	tests/emu/driver/chips.cc tests/emu/driver/chips.h \
	tests/emu/driver/cubin.cc tests/emu/driver/cubin.h \
	tests/emu/driver/footprint.cc tests/emu/driver/footprint.h \
	tests/emu/driver/heap.cc tests/emu/driver/heap.h \
	tests/emu/driver/host_memory.cc tests/emu/driver/host_memory.h \
	tests/emu/driver/kernel_build.cc tests/emu/driver/kernel_build.h \
	tests/emu/driver/knobs.h tests/emu/driver/launch.cc \
	tests/emu/driver/launch.h tests/emu/driver/objects.h \
	tests/emu/driver/order.cc tests/emu/driver/order.h \
	tests/emu/driver/queue.cc tests/emu/driver/queue.h
tests_emu_libcuda_emu_la_LDFLAGS = -module -avoid-version -shared \
	-rpath /nowhere
tests_emu_libcuda_emu_la_LIBADD =

TESTS = $(host_tests) $(nvrtc_tests) $(gpu_tests) $(emu_tests) $(script_tests) $(tool_tests)

EXTRA_DIST += tests/lint.sh tests/nvrtc_versions.sh tests/sanitize.sh \
	$(sanitizer_tests) \
	$(script_tests) \
	$(tool_tests) tests/with_emu.sh tests/with_planted.sh \
	tests/with_tool.sh tests/tool_file.out \
	tests/tool_model.out tests/tool_usage.out \
	tests/gpu.sh tests/bench/marlin.py tests/bench/peers.py \
	tests/bench/plot.py \
	tests/bench/BLACKWELL.md tests/bench/NOTES.md \
	tests/bench/results/h200-2026-12-02.json \
	tests/bench/results/h200-2026-12-02.svg

# These run programs that are tests themselves.
tests/bench_emu.log: tests/bench/bench tests/n_specs
tests/emu_dependent.log: tests/g_dependent tests/n_specs
tests/emu_own_table.log: tests/g_dependent tests/g_experts_bad tests/n_specs
tests/emu_experts.log: tests/g_experts tests/g_experts_bad tests/n_specs
tests/emu_gemm.log: tests/g_gemm tests/n_specs
tests/emu_plan.log: tests/g_plan tests/n_specs
tests/emu_moe.log: tests/g_moe tests/n_specs
tests/emu_mxfp4.log: tests/g_mxfp4 tests/n_specs
tests/emu_moe_layer.log: tests/n_specs
tests/emu_quantize.log: tests/g_quantize tests/g_quantize_bad tests/n_specs
tests/emu_sm100.log: tests/g_gemm tests/n_specs
tests/n_sass.log: tests/n_specs
tests/emu_wrappers.log: tests/g_wrappers tests/n_specs
tests/emu_overlap.log: tests/g_gemm tests/n_specs
tests/emu_driver.log: $(driver_tests) tests/g_driver tests/n_specs

TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
# No test sees the user's cache, home or settings.
AM_TESTS_ENVIRONMENT = \
	$(MKDIR_P) tests/home/cache; \
	HOME='$(abs_top_builddir)/tests/home'; \
	XDG_CACHE_HOME="$$HOME/cache"; \
	export HOME XDG_CACHE_HOME; \
	unset JITGEMM_ `env | $(SED) -n 's/^\(JITGEMM_[A-Z_]*\)=.*/\1/p'`; \
	JITGEMM_CACHE_RO_PATH=:; export JITGEMM_CACHE_RO_PATH; \
	JG_SRCDIR='$(abs_srcdir)'; JG_BUILDDIR='$(abs_builddir)'; \
	JG_FAKES="$${JG_FAKES-$(abs_builddir)/tests/fake/.libs}"; \
	JG_HOST_TESTS='$(host_tests)'; JG_DRIVER_TESTS='$(driver_tests)'; \
	JG_THREAD_TESTS='$(thread_tests)'; \
	JG_WITH_CUDA='$(with_cuda)'; JG_CUDA_CPPFLAGS='$(CUDA_CPPFLAGS)'; \
	CC='$(CC)'; CXX='$(CXX)'; NM='$(NM)'; MAKE='$(MAKE)'; \
	EMU_LDFLAGS='$(EMU_LDFLAGS)'; export EMU_LDFLAGS; \
	export JG_SRCDIR JG_BUILDDIR JG_FAKES JG_HOST_TESTS \
	    JG_DRIVER_TESTS JG_THREAD_TESTS \
	    JG_WITH_CUDA JG_CUDA_CPPFLAGS CC CXX NM MAKE;

check-sanitizers: $(check_LTLIBRARIES)
	$(MAKE) check-TESTS TESTS='$(sanitizer_tests)' \
	    TEST_SUITE_LOG=sanitizers.log
.PHONY: check-sanitizers
CLEANFILES += sanitizers.log

clean-local: clean-tests
clean-tests:
	rm -rf tests/home tests/emu_work sanitize-address sanitize-thread \
	    nvrtc tests/fuzz/corpus_* tests/fuzz/libfuzzer_*
.PHONY: clean-tests

# make check-nvrtc: with several releases of NVRTC, which it downloads;
# RELEASES='nvidia-cuda-nvrtc==13.4.*' names others.
check-nvrtc: jitgemm-warm $(check_LTLIBRARIES) $(check_LIBRARIES) \
	$(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) \
	set -f; $(SHELL) $(srcdir)/tests/nvrtc_versions.sh $(RELEASES)
.PHONY: check-nvrtc

# make bench: what measures on a GPU.
check_PROGRAMS += tests/bench/bench tests/bench/first
bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests
tests_bench_bench_SOURCES = tests/bench/bench.c \
	tests/bench/cublas.c tests/bench/cublas.h \
	tests/bench/kernels.c tests/bench/kernels.h \
	tests/bench/limits.c tests/bench/limits.h \
	tests/bench/options.c tests/bench/options.h \
	tests/bench/peers.c tests/bench/peers.h \
	tests/bench/report.c tests/bench/report.h \
	tests/bench/timing.c tests/bench/timing.h
nodist_tests_bench_bench_SOURCES = tests/bench/texts.c
tests_bench_bench_CPPFLAGS = $(bench_CPPFLAGS)
tests_bench_first_SOURCES = tests/bench/first.c
tests_bench_first_CPPFLAGS = $(bench_CPPFLAGS)
bench_kernels = tests/bench/kernels/job.h tests/bench/kernels/read.cu \
	tests/bench/kernels/widen.cu
EXTRA_DIST += $(bench_kernels)
CLEANFILES += tests/bench/texts.c
tests/bench/texts.c: $(bench_kernels) kernel_src/embed.sh tests/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	SED='$(SED)' $(SHELL) $(srcdir)/kernel_src/embed.sh $(srcdir) \
	    $(bench_kernels) | \
	    $(SED) 's/jg_kernel_texts/bench_texts/g' >$@-t && \
	mv -f $@-t $@
bench: tests/bench/bench tests/bench/first
.PHONY: bench

# make fuzz: the same targets for libFuzzer, with their seeds; then
# tests/fuzz/libfuzzer_pack tests/fuzz/corpus_pack -max_total_time=600
FUZZ_CC = clang
FUZZ_CFLAGS = -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=undefined
fuzz_units = $(srcdir)/lib/buf.c $(srcdir)/lib/entry.c $(srcdir)/lib/file.c \
	$(srcdir)/lib/key.c $(srcdir)/lib/pack.c $(srcdir)/lib/sha256.c \
	$(srcdir)/lib/status.c $(srcdir)/lib/tuning.c $(srcdir)/lib/view.c \
	$(config_units:%=$(srcdir)/%)
fuzz: $(fuzz_tests)
	$(AM_V_at)set -e; for name in config entry key pack tuning; do \
	    $(MKDIR_P) tests/fuzz/corpus_$$name; \
	    tests/fuzz/fuzz_$$name tests/fuzz/corpus_$$name; \
	    $(FUZZ_CC) -std=c11 $(FUZZ_CFLAGS) $(fuzz_CPPFLAGS) \
	        -o tests/fuzz/libfuzzer_$$name \
	        $(srcdir)/tests/fuzz/fuzz_$$name.c $(fuzz_units); \
	done
.PHONY: fuzz
