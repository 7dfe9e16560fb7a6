# SPDX-License-Identifier: MIT
# The kernel texts, in the order of their layers, and how they get into the
# library. Each must be listed here.
kernel_src = \
	kernel_src/base/types.cuh \
	kernel_src/base/group.h \
	kernel_src/base/both.h \
	kernel_src/base/rows.h \
	kernel_src/base/conversion.h \
	kernel_src/base/experts.h \
	kernel_src/ptx/memory.cuh \
	kernel_src/ptx/mbarrier.cuh \
	kernel_src/ptx/tma.cuh \
	kernel_src/ptx/sync.cuh \
	kernel_src/ptx/cluster.cuh \
	kernel_src/ptx/half.cuh \
	kernel_src/ptx/float.cuh \
	kernel_src/ptx/warp.cuh \
	kernel_src/ptx/wgmma.cuh \
	kernel_src/ptx/tcgen05.cuh \
	kernel_src/ptx/tensormap.cuh \
	kernel_src/mma/nvfp4.cuh \
	kernel_src/mma/mxfp4.cuh \
	kernel_src/mma/wgmma_tile.cuh \
	kernel_src/mma/tcgen05_tile.cuh \
	kernel_src/mma/scaled_slot.cuh \
	kernel_src/mma/activations.cuh \
	kernel_src/mma/weights.cuh \
	kernel_src/pipeline/ring.cuh \
	kernel_src/pipeline/tensor_maps.cuh \
	kernel_src/sched/table.cuh \
	kernel_src/sched/tiles.cuh \
	kernel_src/sched/team.cuh \
	kernel_src/sched/row_groups.cuh \
	kernel_src/sched/row_tiles.cuh \
	kernel_src/sched/placing.cuh \
	kernel_src/sched/own_table.cuh \
	kernel_src/sched/all_rows.cuh \
	kernel_src/epilogue/output.cuh \
	kernel_src/epilogue/store_registers.cuh \
	kernel_src/epilogue/store_tensor.cuh \
	kernel_src/epilogue/scale_stage.cuh \
	kernel_src/epilogue/zero_tail.cuh \
	kernel_src/gemm/sm90_groups.cuh \
	kernel_src/gemm/experts.cu \
	kernel_src/gemm/sm90_activations.cu \
	kernel_src/gemm/sm90_nvfp4.cu \
	kernel_src/gemm/sm100_nvfp4.cu \
	kernel_src/quant/elements.cuh \
	kernel_src/quant/nvfp4_block.cuh \
	kernel_src/quant/swiglu.cuh \
	kernel_src/quant/activation.cuh \
	kernel_src/quant/quantize.cu \
	kernel_src/quant/blocked_scales.cu \
	kernel_src/quant/combine.cu \
	kernel_src/quant/cast.cu

EXTRA_DIST = $(kernel_src) kernel_src/embed.sh
CLEANFILES += lib/kernel_text.c

lib/kernel_text.c: $(kernel_src) kernel_src/embed.sh kernel_src/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	SED='$(SED)' $(SHELL) $(srcdir)/kernel_src/embed.sh $(srcdir) \
	    $(kernel_src) >$@-t && \
	mv -f $@-t $@
