/* SPDX-License-Identifier: MIT */
/* Bugs to plant in Blackwell's kernel texts, where a block works alone: how
 * its threads and asynchronous work meet. */
#ifndef EMU_PLANTED_BLACKWELL_BUGS_H
#define EMU_PLANTED_BLACKWELL_BUGS_H

#include "planted.h"

#define TENSOR_TEXT "gemm/sm100_nvfp4.cu"
#define SLOT_TEXT   "mma/scaled_slot.cuh"
#define LAYOUT_TEXT "mma/tcgen05_tile.cuh"
#define RING_TEXT   "pipeline/ring.cuh"
#define MAPS_TEXT   "pipeline/tensor_maps.cuh"
#define STORE_TEXT  "epilogue/store_tensor.cuh"
#define WALK_TEXT   "sched/tiles.cuh"

/* Tiles of 32 tokens by 128 weights, swapped, but for those of 128 by 128 and,
 * with one accumulator, 128 by 256. */
enum { SWAPPED = 0, STRAIGHT = 2, WIDE = 4 };
#define EDITING SWAPPED, true

static const emu_test::planted_bug blackwell_bugs[] = {
    /* waits and arrivals */
    {"no wait for a full slot", TENSOR_TEXT, "/ring.wait_full();/d",
     "missing-wait|early-overwrite"},
    {"no wait for an empty slot", TENSOR_TEXT,
     "/^            ring.wait_empty/d",
     "early-overwrite|arrive-nothing-pending"},
    {"no wait for the accumulator", TENSOR_TEXT, "/in.wait_full();/d",
     "tensor-uninitialized"},
    {"accumulator waited for only once", TENSOR_TEXT,
     "s/in.wait_full();/if (in.parity == 0) &/", "tensor-missing-wait"},
    {"accumulator reused without a wait", TENSOR_TEXT, "/out.wait_empty();/d",
     "tensor-early-overwrite", STRAIGHT},
    {"wait for the wrong parity", RING_TEXT, "s/parity ^ 1))/parity))/",
     "deadlock"},
    {"parity never changes", RING_TEXT, "/parity ^= 1;/d",
     "early-overwrite|arrive-nothing-pending"},
    {"slot not committed", TENSOR_TEXT, "/commit(&shared.stage/d", "deadlock"},
    {"accumulator not committed", TENSOR_TEXT,
     "s/commit(&shared.accumulator.*/;/", "deadlock"},
    {"slot released by an arrival", TENSOR_TEXT,
     "s/commit(&shared.stage/ptx::mbarrier_arrive(\\&shared.stage/",
     "early-overwrite"},
    {"accumulator given by an arrival", TENSOR_TEXT,
     "s/commit(&shared.acc/ptx::mbarrier_arrive(\\&shared.acc/",
     "tensor-missing-wait"},
    {"commit before the products", TENSOR_TEXT,
     "/^                commit(/d;"
     "s/from.multiply(/commit(\\&shared.stage.empty[ring.slot]);\\n&/",
     "early-overwrite"},
    {"commit by another thread", TENSOR_TEXT,
     "s/commit(&shared.accumulator.*/;/;s/in.wait_full();/if (threadIdx.x == "
     "0) commit(\\&shared.accumulator.full[in.slot]);\\n&/",
     "tensor-uninitialized|tensor-missing-wait"},
    {"other accumulator given", TENSOR_TEXT,
     "s/accumulator.full\\[out.slot\\]/accumulator.full[out.slot ^ 1]/",
     "deadlock"},
    {"too few arrivals for the accumulator", TENSOR_TEXT,
     "s/spec::ctas \\* epilogue::tensor_lanes/& - 32/",
     "tensor-no-fence|tensor-early-overwrite|tensor-missing-wait|deadlock"},
    {"too many arrivals for the accumulator", TENSOR_TEXT,
     "s/spec::ctas \\* epilogue::tensor_lanes/& + 1/", "deadlock"},
    {"too few bytes expected", SLOT_TEXT,
     "s/(1 + column_atoms) \\* bytes/bytes/", "wrong-byte-count|missing-wait"},
    {"too many bytes expected", SLOT_TEXT,
     "s/(1 + column_atoms) \\* bytes/& + 16/", "wrong-byte-count"},
    {"another arrival at a full slot expected", TENSOR_TEXT,
     "s/stage.full\\[i\\], 1/stage.full[i], 2/", "deadlock"},
    {"another arrival at an empty slot expected", TENSOR_TEXT,
     "s/stage.empty\\[i\\], 1/stage.empty[i], 2/", "deadlock"},
    {"accumulator never given back", STORE_TEXT, "s/ done();/ ;/", "deadlock"},
    {"accumulator given back in every pass", STORE_TEXT,
     "/first + pass_tokens >= to.tokens/d",
     "tensor-missing-wait|tensor-early-overwrite|deadlock"},
    {"barriers not fenced", TENSOR_TEXT, "/fence_mbarrier_init();/d",
     "barrier-no-fence"},
    {"all lanes multiply", TENSOR_TEXT,
     "s/issues = ptx::elect_one()/issues = true/", "tensor-early-overwrite"},
    {"all lanes copy", TENSOR_TEXT,
     "s/warp == 5 && ptx::elect_one()/warp == 5/", "arrive-nothing-pending"},
    {"lanes of the product warp part", TENSOR_TEXT, "/__syncwarp/d", "race"},

    /* fences */
    {"no fence before the load", TENSOR_TEXT, "/in.wait_full();/{n;d;}",
     "tensor-no-fence"},
    {"no fence after the load", TENSOR_TEXT,
     "/void release/,/^}/{/fence_before/d;}", "tensor-no-fence"},
    {"no fence before the products", TENSOR_TEXT, "/__syncwarp/{n;d;}",
     "tensor-no-fence"},
    {"no fences of the allocation", TENSOR_TEXT,
     "/relinquish/,/warp < 4/s/ synchronize();/ __syncthreads();/",
     "tensor-no-fence"},
    {"no fence before a barrier of all", TENSOR_TEXT,
     "/void synchronize/,/^}/{/fence_before/d;}", "tensor-no-fence"},
    {"no fence after a barrier of all", TENSOR_TEXT,
     "/void synchronize/,/^}/{/fence_after/d;}", "tensor-no-fence"},
    {"no barrier after the allocation", TENSOR_TEXT,
     "/relinquish/,/warp < 4/s/ synchronize();/ ;/",
     "barrier-not-initialized"},
    {"no barrier at the end", TENSOR_TEXT,
     "/copy_all(shared/,$s/ synchronize();/ ;/", "tensor-freed-early"},
    {"no fences at the end", TENSOR_TEXT,
     "/copy_all(shared/,$s/ synchronize();/ __syncthreads();/",
     "tensor-no-fence"},
    {"padding cleared without the proxy fence", SLOT_TEXT,
     "/fence_proxy_async/d", "no-proxy-fence"},
    {"proxy fence before the padding is cleared", SLOT_TEXT,
     "/fence_proxy_async/d;s/clear_half(lane_scales/ptx::fence_proxy_async();"
     "\\n&/",
     "no-proxy-fence"},
    {"one lane fences for all", SLOT_TEXT,
     "s/ptx::fence_proxy_async/if (threadIdx.x % 32 == 0) &/",
     "no-proxy-fence"},
};

#endif
