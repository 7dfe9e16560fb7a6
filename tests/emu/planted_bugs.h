/* SPDX-License-Identifier: MIT */
/* Bugs to plant in the kernel texts: what sed does to which file, and how the
 * emulator may call it. */
#ifndef EMU_PLANTED_BUGS_H
#define EMU_PLANTED_BUGS_H

#include <stddef.h>

struct bug {
    const char *title, *file, *sed;
    const char *names; /* of the report: "one" or "one|other" */
    size_t config = 1; /* row of lib/plan.c's table */
};

#define PRODUCT_TEXT     "gemm/sm90_nvfp4.cu"
#define ACTIVATIONS_TEXT "gemm/sm90_activations.cu"
#define EPILOGUE_TEXT    "epilogue/store_f16.cuh"
#define ROW_TEXT         "mma/activations.cuh"
#define RING_TEXT        "pipeline/ring.cuh"
#define TILE_TEXT        "mma/wgmma_tile.cuh"

static const bug bugs[] = {
    {"no wait for a full slot", PRODUCT_TEXT, "/ring.wait_full();/d",
     "missing-wait|early-overwrite"},
    {"no wait for an empty slot", PRODUCT_TEXT, "/ring.wait_empty();/d",
     "early-overwrite|arrive-nothing-pending"},
    {"no wait for the last products", PRODUCT_TEXT, "/wgmma_wait_group<0>();/d",
     "missing-wait"},
    {"no wait for the products before", PRODUCT_TEXT, "/wgmma_wait_group<1>();/d",
     "fragment-changed|early-overwrite"},
    {"wait for one product too few", PRODUCT_TEXT,
     "s/wgmma_wait_group<1>/wgmma_wait_group<2>/",
     "fragment-changed|early-overwrite"},
    {"products never committed", PRODUCT_TEXT, "/wgmma_commit_group();/d",
     "missing-wait|fragment-changed|early-overwrite"},
    {"slot released before its products are done", PRODUCT_TEXT,
     "/^    ptx::mbarrier_arrive(&ring/d;"
     "s/empty\\[previous\\]/empty[ring.slot]/;"
     "s/if (j == 0 && previous >= 0)/if (j == 1)/",
     "early-overwrite"},
    {"slot released before it is read", PRODUCT_TEXT,
     "/^        ring.wait_full();/a "
     "ptx::mbarrier_arrive(\\&ring.shared.empty[ring.slot]);\n"
     "/^            if (j == 0/,/mbarrier_arrive/d;"
     "/^    ptx::mbarrier_arrive(&ring/d",
     "missing-wait|early-overwrite"},
    {"one lane waits for all", PRODUCT_TEXT,
     "s/ring.wait_full();/if (threadIdx.x % 32 == 0) ring.wait_full();/",
     "missing-wait|early-overwrite"},
    {"accumulator changed too early", PRODUCT_TEXT,
     "s/^\\( *\\)ptx::wgmma_wait_group<1>();/\\1d[0] = 1;\\n&/",
     "accumulator-changed"},
    {"slot never released", PRODUCT_TEXT, "/^    ptx::mbarrier_arrive(&ring/d",
     "deadlock"},
    {"slot released twice", PRODUCT_TEXT,
     "s/^    ptx::mbarrier_arrive(&ring.*/&\\n&/",
     "arrive-nothing-pending|early-overwrite"},
    {"arrival at a barrier that all came to", PRODUCT_TEXT,
     "s/^ *ptx::cp_async_bulk_tensor_2d(/    ptx::mbarrier_arrive(full);\\n&/",
     "arrive-nothing-pending"},
    {"one arrival too many expected", PRODUCT_TEXT,
     "s/ consumers \\* warpgroup);/ consumers * warpgroup + 1);/",
     "deadlock"},
    {"arrivals of one consumer too few expected", PRODUCT_TEXT,
     "s/ consumers \\* warpgroup);/ warpgroup);/",
     "early-overwrite|missing-wait|deadlock|wrong-result"},
    {"wait for the wrong parity", RING_TEXT, "s/parity ^ 1))/parity))/",
     "deadlock"},
    {"parity never changes", RING_TEXT, "/parity ^= 1;/d",
     "missing-wait|early-overwrite|arrive-nothing-pending"},
    {"too few bytes expected", PRODUCT_TEXT, "/^ *scale_bytes +$/d",
     "wrong-byte-count"},
    {"too many bytes expected", PRODUCT_TEXT,
     "s/chunks \\* activation_bytes)/chunks * activation_bytes + 16)/",
     "wrong-byte-count"},
    {"copy counted on the wrong barrier", PRODUCT_TEXT,
     "s/scale_bytes, full)/scale_bytes, \\&ring.shared.empty[ring.slot])/",
     "wrong-byte-count"},
    {"barriers not fenced", PRODUCT_TEXT, "/fence_mbarrier_init();/d",
     "barrier-no-fence"},
    {"barriers used before they are made", PRODUCT_TEXT, "/__syncthreads();/d",
     "barrier-not-initialized"},
    {"no fence before a product", PRODUCT_TEXT, "/wgmma_fence();/d",
     "wgmma-no-fence"},
    {"fence before the fragment is written", PRODUCT_TEXT,
     "/^    ptx::wgmma_fence();/d;"
     "s/^\\( *\\)self.weights.fragment(/\\1ptx::wgmma_fence();\\n&/",
     "wgmma-no-fence"},
    {"map not acquired", PRODUCT_TEXT, "/fence_proxy_tensormap_acquire/d",
     "tensormap-no-fence"},
    {"activations read before they are there", PRODUCT_TEXT,
     "/griddepcontrol_wait();/d", "missing-launch-wait"},
    {"workspace read before it is there", PRODUCT_TEXT,
     "s/^    if (role == 0) {/    if (table.workspace[0] == 7) return;\\n&/",
     "missing-launch-wait"},
    {"generic write without the proxy fence", PRODUCT_TEXT,
     "s/^\\( *\\)multiply<width>(d, a/"
     "\\1if (threadIdx.x % warpgroup == 0)\\n"
     "\\1    shared.activations[ring.slot][j][self.index] = 0;\\n"
     "\\1ptx::bar_sync(3, 2 * warpgroup);\\n"
     "&/",
     "no-proxy-fence"},
    {"shared memory out of bounds", PRODUCT_TEXT,
     "s/(memory) & 1023;/(memory) \\& 1023; memory += 1 << 16;/",
     "shared-out-of-bounds"},
    {"scales out of bounds", PRODUCT_TEXT,
     "s/min(chunks, scale_chunks - first)/chunks/", "global-out-of-bounds"},
    {"activations out of bounds", PRODUCT_TEXT,
     "s/size_t(first + i)/size_t(first + i + 1)/", "global-out-of-bounds"},
    {"a row too many stored", EPILOGUE_TEXT, "s/row < to.rows/row <= to.rows/",
     "global-out-of-bounds|wrong-result"},
    {"columns past n stored", EPILOGUE_TEXT, "s/ && 8 \\* unit < to.columns//",
     "global-out-of-bounds|wrong-result"},
    {"activations of a row too many", ROW_TEXT,
     "s/token < group.m/token <= group.m/",
     "global-out-of-bounds|wrong-result"},
    {"copy to a misaligned address", PRODUCT_TEXT,
     "s/shared.scales\\[ring.slot\\],/\\&shared.scales[ring.slot][0][8],/",
     "misaligned"},
    {"copy of a misaligned size", PRODUCT_TEXT,
     "s/^\\( *\\)scale_bytes, full);/\\1scale_bytes - 8, full);/",
     "misaligned"},
    {"misaligned descriptor", PRODUCT_TEXT, "s/(memory) & 1023;/(memory) \\& 127;/",
     "misaligned"},
    {"descriptor past the row", PRODUCT_TEXT,
     "s/step \\* 32) >> 4/step * 48) >> 4/", "misaligned"},
    {"wrong swizzle in the descriptor", TILE_TEXT, "s/u64(1) << 62/u64(3) << 62/",
     "misaligned|bad-descriptor"},
    {"misaligned matrix store", EPILOGUE_TEXT,
     "s/staging + staged(8/staging + 8 + staged(8/", "misaligned"},
    {"warps of a warpgroup differ", PRODUCT_TEXT,
     "s/step \\* 32) >> 4/(step ^ threadIdx.x \\/ 64 % 2) * 32) >> 4/",
     "unequal-arguments"},
    {"lanes of a warp differ", PRODUCT_TEXT,
     "s/step \\* 32) >> 4/(step ^ threadIdx.x % 2) * 32) >> 4/",
     "unequal-arguments"},
    {"threads of a barrier differ", EPILOGUE_TEXT,
     "s/bar_sync(barrier, warpgroup)/"
     "bar_sync(barrier, warpgroup + (thread < 32 ? 32 : 0))/",
     "unequal-arguments"},
    {"registers never given up", PRODUCT_TEXT, "/setmaxnreg_dec/d", "deadlock"},
    {"no barrier before the staged rows are read", EPILOGUE_TEXT,
     "0,/ptx::bar_sync/{/ptx::bar_sync/d;}", "race"},
    {"no barrier after the staged rows are read", EPILOGUE_TEXT,
     "/uint4 \\*>(staging/,/^    }/{/ptx::bar_sync/d;}", "race", 3},
    {"registers that nobody gave up", PRODUCT_TEXT,
     "s/<spec::consumer_registers>/<spec::consumer_registers + 8>/",
     "deadlock"},
    {"activations not swizzled", ACTIVATIONS_TEXT,
     "s/mma::activation_piece_offset(row, piece)/row * 128 + piece * 16/",
     "wrong-result"},
    {"activations read at odd addresses", ROW_TEXT,
     "s/piece \\/ 4 \\* 4/& + 2/", "misaligned"},
    {"decoded without the proxy fence", PRODUCT_TEXT, "/fence_proxy_async();/d",
     "no-proxy-fence", 0},
    {"decoded before the slot is empty", PRODUCT_TEXT,
     "/for (int j = 0; j < pieces; j++)/,/ring.wait_empty/{/wait_empty/d;}",
     "early-overwrite|arrive-nothing-pending|missing-wait|race", 0},
    {"decoding warp not waited for", PRODUCT_TEXT,
     "s/1 + (spec::fused ? 32 : 0)/1/",
     "arrive-nothing-pending|missing-wait|no-proxy-fence|early-overwrite|race",
     0},
};
constexpr size_t bugs_count = sizeof bugs / sizeof *bugs;

#endif
