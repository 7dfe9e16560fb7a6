/* SPDX-License-Identifier: MIT */
/* Bugs to plant in tests/tcgen05_pipeline.cu: what sed does, and how the
 * emulator may call it. */
#ifndef EMU_PLANTED_TENSOR_BUGS_H
#define EMU_PLANTED_TENSOR_BUGS_H

#include <stddef.h>

struct tensor_bug {
    const char *title, *sed;
    const char *names; /* of the report: "one" or "one|other" */
};

static const tensor_bug tensor_bugs[] = {
    {"no wait for a full stage", "/ring.wait_full();/d",
     "missing-wait|early-overwrite|tensor-early-overwrite"},
    {"no wait for an empty stage", "/ring.wait_empty();/d",
     "early-overwrite|arrive-nothing-pending"},
    {"stage not committed", "/tcgen05_commit(&shared.stage/d", "deadlock"},
    {"accumulator not committed", "/tcgen05_commit(&shared.accumulator/d",
     "deadlock"},
    {"stage released by an arrival",
     "s/tcgen05_commit(&shared.stage/mbarrier_arrive(\\&shared.stage/",
     "early-overwrite|tensor-early-overwrite"},
    {"accumulator given by an arrival",
     "s/tcgen05_commit(&shared.acc/mbarrier_arrive(\\&shared.acc/",
     "tensor-missing-wait"},
    {"commit before the products",
     "/ring.wait_full();/a ptx::tcgen05_commit("
     "\\&shared.stage.empty[ring.slot]);\n/^            ptx::tcgen05_commit/d",
     "early-overwrite|tensor-early-overwrite"},
    {"commit by another thread",
     "/tcgen05_commit(&shared.accumulator/d;"
     "s/^        in.wait_full();/        if (threadIdx.x == 0) "
     "ptx::tcgen05_commit(\\&shared.accumulator.full[in.slot]);\\n&/",
     "tensor-missing-wait|tensor-uninitialized"},
    {"no wait for the accumulator", "/in.wait_full();/d",
     "tensor-missing-wait|tensor-uninitialized"},
    {"no fence before the load", "/before the load/d", "tensor-no-fence"},
    {"no fence after the load", "/after the load/d", "tensor-no-fence"},
    {"no fence before a tile's products",
     "/thread_sync(); .. accumulator/d;"
     "/thread_sync(); .. scales/d",
     "tensor-no-fence"},
    {"no fence before the scales are overwritten",
     "/thread_sync(); .. scales/d", "tensor-no-fence"},
    {"no fences of the allocation", "/.. allocation .*/d",
     "tensor-no-fence|tensor-missing-wait"},
    {"no fence after the end", "/after_thread_sync(); .. end/d",
     "tensor-no-fence"},
    {"no wait for the load", "/tcgen05_wait_ld();/d",
     "tensor-early-overwrite|tensor-freed-early|wrong-result"},
    {"released before the wait for the load",
     "s/^\\( *\\)ptx::tcgen05_wait_ld();/"
     "\\1ptx::tcgen05_fence_before_thread_sync();\\n"
     "\\1ptx::mbarrier_arrive(\\&shared.accumulator.empty[in.slot]);\\n&/;"
     "/after the load/d;"
     "/^        ptx::mbarrier_arrive(&shared.accumulator.empty/d",
     "tensor-early-overwrite"},
    {"register written before the wait for the load",
     "s/^\\( *\\)ptx::tcgen05_wait_ld();/\\1d[1][3] = 1;\\n&/",
     "register-changed"},
    {"register read before the wait for the load",
     "s/^\\( *\\)ptx::tcgen05_wait_ld();/\\1float early = d[1][3];\\n&\\n"
     "\\1d[1][3] = early;/",
     "wrong-result"},
    {"accumulator reused without a wait", "/out.wait_empty();/d",
     "tensor-early-overwrite"},
    {"only one accumulator",
     "s/base + u32(out.slot \\* tile_n)/base/;"
     "s/in.slot \\* tile_n + //",
     "tensor-early-overwrite|tensor-missing-wait"},
    {"scales in one place for all stages", "s/ + 32 \\* u32(slot)//",
     "tensor-early-overwrite"},
    {"scales of B over those of A", "s/to + 16/to/", "tensor-early-overwrite"},
    {"scales of B not copied", "/tcgen05_cp.*sfb/d", "tensor-uninitialized"},
    {"scales past the allocation", "s/columns = 512/columns = 256/",
     "tensor-out-of-bounds"},
    {"first product adds", "s/!first || i > 0/true/",
     "tensor-uninitialized|wrong-result"},
    {"every product begins anew", "s/!first || i > 0/false/", "wrong-result"},
    {"too few columns asked for", "s/columns = 512/columns = 320/",
     "bad-alloc"},
    {"tensor memory not freed", "s/ptx::tcgen05_dealloc.*/;/",
     "tensor-not-freed"},
    {"freed by another warp", "s/^    if (warp == 4)$/    if (warp == 3)/",
     "bad-dealloc"},
    {"half freed", "s/dealloc(shared.tensor_memory, columns/&\\/2/",
     "bad-dealloc"},
    {"freed at another address", "s/dealloc(shared.tensor_memory/& + 32/",
     "bad-dealloc"},
    {"freed by one lane", "s/ptx::tcgen05_dealloc/if (threadIdx.x % 32) &/",
     "deadlock"},
    {"freed before the epilogue is done",
     "s/ptx::tcgen05_fence_before_thread_sync(); .. end/"
     "if (warp == 4) ptx::tcgen05_dealloc(shared.tensor_memory, columns);\\n&/"
     ";/^        ptx::tcgen05_dealloc/d;"
     "/after_thread_sync(); .. end/,$s/if (warp == 4)$//",
     "tensor-freed-early"},
    {"allocation after the permit is given back",
     "/^        ptx::tcgen05_alloc/{h;d;};/relinquish/G",
     "alloc-after-relinquish"},
    {"lanes of another warp loaded", "s/32 \\* warp,/32 * (warp ^ 1),/",
     "tensor-foreign-lanes"},
    {"all warps load the first lanes", "s/32 \\* warp,/0,/",
     "tensor-foreign-lanes"},
    {"load past the accumulators", "s/in.slot \\* tile_n + 32 \\* j/& + 496/",
     "tensor-out-of-bounds"},
    {"misaligned operand", "s/(memory) & 1023/(memory) \\& 127/",
     "misaligned"},
    {"operand step past the row", "s/i \\* mma::product_bytes/i * 48/",
     "misaligned|bad-descriptor"},
    {"wrong stride of an operand",
     "s/u64 a = mma::operand_descriptor(/& 0) + (u64(1344 - 64) << 32) + "
     "((/;s/shared.a\\[slot\\]));/shared.a[slot]) \\& 0x3ffff) >> 4);/",
     "shared-out-of-bounds|missing-wait|bad-descriptor"},
    {"stride of half a swizzle",
     "s/a + step, b + step/a + step - (u64(32) << 32), b + step/",
     "misaligned"},
    {"operand without a swizzle",
     "s/a + step, b + step/(a \\& ~(u64(7) << 61)) + step, b + step/",
     "wrong-result"},
    {"scales with a swizzle", "s/, sfa + atom/, (sfa | u64(2) << 61) + atom/",
     "bad-descriptor"},
    {"descriptor of another version",
     "s/, sfa + atom/, sfa + atom + (u64(1) << 46)/", "bad-descriptor"},
    {"too many columns for a product",
     "s/product_instruction(tile_m, tile_n)/product_instruction(tile_m, 264)/",
     "bad-instruction|tensor-out-of-bounds"},
    {"product of 64 rows",
     "s/product_instruction(tile_m, tile_n)/product_instruction(64, tile_n)/",
     "bad-instruction"},
    {"product of another format",
     "s/product_instruction(tile_m, tile_n)/& + 0x80/", "bad-instruction"},
    {"all lanes multiply", "s/warp == 4 && ptx::elect_one()/warp == 4/",
     "tensor-early-overwrite|arrive-nothing-pending|early-overwrite|"
     "tensor-missing-wait"},
    {"all lanes copy", "s/warp == 5 && ptx::elect_one()/warp == 5/",
     "arrive-nothing-pending|tensormap-in-use|early-overwrite|"
     "wrong-byte-count|race"},
    {"too few bytes expected",
     "s/2 \\* operand_bytes + 2 \\* scale_bytes/2 * operand_bytes + "
     "scale_bytes/",
     "wrong-byte-count"},
    {"too many bytes expected", "s/+ 2 \\* scale_bytes/& + 16/",
     "wrong-byte-count"},
    {"scales of a whole stage at the end of k",
     "s/u32(min(products, atoms - k .*))/u32(products)/",
     "global-out-of-bounds"},
    {"products past k", "s/ && i \\* mma::product_k < k//",
     "missing-wait|wrong-result"},
    {"too few arrivals for the accumulator",
     "s/accumulator.empty\\[i\\], 128/accumulator.empty[i], 96/",
     "tensor-early-overwrite|arrive-nothing-pending|tensor-missing-wait"},
    {"too many arrivals for the accumulator",
     "s/accumulator.empty\\[i\\], 128/accumulator.empty[i], 129/", "deadlock"},
    {"generic write without the proxy fence",
     "s/^            multiply(/            shared.sfa[ring.slot][0][5] = 0;\\n"
     "&/",
     "no-proxy-fence"},
    {"generic write to a stage in use",
     "s/^            ptx::tcgen05_commit(&shared.stage/"
     "            shared.a[ring.slot][5] = 0;\\n&/",
     "early-overwrite"},
    {"barriers not fenced", "/fence_mbarrier_init();/d", "barrier-no-fence"},
    {"maps edited while in use", "/wait_group_read<0>();/d",
     "tensormap-in-use"},
    {"copies not in a group", "/bulk_commit_group();/d", "tensormap-in-use"},
    {"edits not released", "/fence_proxy_tensormap_release();/d",
     "tensormap-no-fence"},
    {"maps not acquired", "/fence_proxy_tensormap_acquire(maps);/d",
     "tensormap-no-fence"},
    {"maps acquired before the edit",
     "/fence_proxy_tensormap_acquire/d;"
     "s/^    edit_map(maps, /    ptx::fence_proxy_tensormap_acquire(maps);\\n"
     "    ptx::fence_proxy_tensormap_acquire(maps + 1);\\n&/",
     "tensormap-no-fence"},
    {"maps acquired only once",
     "s/^    ptx::fence_proxy_tensormap_acquire/    if (g.m == 200) &/",
     "tensormap-no-fence"},
    {"blocks share their maps", "s/p.maps + 2 \\* blockIdx.x/p.maps/",
     "tensormap-in-use|tensormap-no-fence"},
    {"map never filled", "/maps\\[1\\] = prototype;/d", "bad-tensor-map"},
    {"maps edited among the parameters",
     "s/tensor_map \\*maps = p.maps + 2 \\* blockIdx.x/"
     "tensor_map *maps = const_cast<tensor_map *>(\\&prototype)/;"
     "/maps\\[.\\] = prototype/d;s/(maps + 1/(maps/;s/maps + 1, k/maps, k/",
     "bad-operand"},
    {"stride in units of 16 bytes",
     "s/stride<0>(map, u64(k . 2))/stride<0>(map, u64(k \\/ 2) >> 4)/",
     "bad-tensor-map|wrong-result"},
    {"rows of the last group", "/global_dim<1>/d",
     "wrong-result|global-out-of-bounds"},
};
constexpr size_t tensor_bugs_count = sizeof tensor_bugs / sizeof *tensor_bugs;

#endif
