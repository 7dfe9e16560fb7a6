# SPDX-License-Identifier: MIT
# The library: libjg.la is all of it, with its internals, for the tests;
# libjitgemm.la is the same with jitgemm_ symbols only.
noinst_LTLIBRARIES = libjg.la
libjg_la_SOURCES = \
	lib/abi.c lib/abi.h \
	lib/bind.c lib/bind.h \
	lib/buf.c lib/buf.h \
	lib/cache.c lib/cache.h \
	lib/choice.c lib/choice.h \
	lib/clock.c lib/clock.h \
	lib/compile.c lib/compile.h \
	lib/compiler.c lib/compiler.h \
	lib/compiler_places.c lib/compiler_places.h \
	lib/context.c lib/context.h \
	lib/conversion.c \
	lib/conversion_job.c lib/conversion_job.h \
	lib/conversion_spec.c lib/conversion_spec.h \
	lib/cut.c lib/cut.h \
	lib/device.c lib/device.h \
	lib/dummy.c lib/dummy.h \
	lib/driver.c lib/driver.h \
	lib/entries.c \
	lib/entry.c lib/entry.h \
	lib/env.c lib/env.h \
	lib/evict.c lib/evict.h \
	lib/experts.c \
	lib/experts_job.c lib/experts_job.h \
	lib/explain.c lib/explain.h \
	lib/file.c lib/file.h \
	lib/flight.c lib/flight.h \
	lib/fork.c lib/fork.h \
	lib/gate.c lib/gate.h \
	lib/image.c lib/image.h \
	lib/jitgemm.c \
	lib/keep.c lib/keep.h \
	lib/kernel_text.h \
	lib/key.c lib/key.h \
	lib/launch.c lib/launch.h \
	lib/layers.c lib/layers.h \
	lib/library.c lib/library.h \
	lib/lock.c lib/lock.h \
	lib/makers.c lib/makers.h \
	lib/maps.c lib/maps.h \
	lib/model.c lib/model.h \
	lib/model_sm100.c \
	lib/model_sm90.c \
	lib/nvfp4.c \
	lib/pack.c lib/pack.h \
	lib/place.c lib/place.h \
	lib/plan.c lib/plan.h \
	lib/plan_text.c lib/plan_text.h \
	lib/pool.c lib/pool.h \
	lib/problem.c lib/problem.h \
	lib/ready.c lib/ready.h \
	lib/rebuild.c lib/rebuild.h \
	lib/registry.c lib/registry.h \
	lib/rows.c lib/rows.h \
	lib/settings.c lib/settings.h \
	lib/sha256.c lib/sha256.h \
	lib/spec.c lib/spec.h \
	lib/stats.c lib/stats.h \
	lib/status.c lib/status.h \
	lib/stock.c lib/stock.h \
	lib/store.c lib/store.h \
	lib/table.c lib/table.h \
	lib/tune.c \
	lib/tuned.c lib/tuned.h \
	lib/tuning.c lib/tuning.h \
	lib/view.c lib/view.h
nodist_libjg_la_SOURCES = lib/kernel_text.c

# current:revision:age. Before a release: revision + 1 if the code changed;
# if the interface changed current + 1 and revision 0; then age + 1 if it only
# grew, else age 0.
# 0.1.0 is 0:0:0
# Never unloaded: its threads, its error records and what it opened stay.
lib_LTLIBRARIES = libjitgemm.la
libjitgemm_la_SOURCES =
libjitgemm_la_LIBADD = libjg.la
libjitgemm_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-export-symbols-regex '^jitgemm_' -Wl,-z,nodelete

bin_PROGRAMS += jitgemm-warm
jitgemm_warm_SOURCES = \
	lib/tool/cache_verbs.c lib/tool/cache_verbs.h \
	lib/tool/common.c lib/tool/common.h \
	lib/tool/entry_diff.c lib/tool/entry_diff.h \
	lib/tool/explain.c lib/tool/explain.h \
	lib/tool/help.c lib/tool/help.h \
	lib/tool/jitgemm-warm.c \
	lib/tool/json.c lib/tool/json.h \
	lib/tool/json_read.c lib/tool/json_read.h \
	lib/tool/kernel_list.c lib/tool/kernel_list.h \
	lib/tool/model_config.c lib/tool/model_config.h \
	lib/tool/model_list.c lib/tool/model_list.h \
	lib/tool/moe_models.c lib/tool/moe_models.h \
	lib/tool/option_rules.c lib/tool/option_rules.h \
	lib/tool/options.c lib/tool/options.h \
	lib/tool/problem_list.c lib/tool/problem_list.h \
	lib/tool/problem_text.c lib/tool/problem_text.h \
	lib/tool/prune.c lib/tool/prune.h \
	lib/tool/report.c lib/tool/report.h \
	lib/tool/text.c lib/tool/text.h \
	lib/tool/utf8.c lib/tool/utf8.h
jitgemm_warm_CPPFLAGS = -I$(srcdir)/include
jitgemm_warm_LDADD = libjitgemm.la
dist_man_MANS += lib/tool/jitgemm-warm.1
