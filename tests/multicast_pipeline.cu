/* SPDX-License-Identifier: MIT */
/* C = W * X^T in f16 on two blocks of a cluster, to plant bugs in: plain, but
 * with all that a fast kernel has to get right. Both blocks multiply the same
 * tokens, X, each with 64 rows of W: each copies half of the tokens to both.
 * Warps 0 to 3 multiply, a thread of warp 4 copies.
 *
 * barrier  count      arrives                         waits
 * full     1 + bytes  copying threads of both blocks  multiplying threads
 * empty    256        multiplying threads of both     copying thread
 */
#include <base/types.cuh>
#include <mma/wgmma_tile.cuh>
#include <pipeline/ring.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tma.cuh>
#include <ptx/wgmma.cuh>

constexpr int stages = 3, rows = 64, tokens = 32;
constexpr u32 row_bytes = 128; /* 64 k */
constexpr u32 stage_bytes = tokens * row_bytes, half = stage_bytes / 2;

struct alignas(64) tensor_map {
    u8 bytes[128];
};

struct problem {
    tensor_map x; /* boxes of 64 k x 16 tokens, 128-byte swizzle */
    const u32 *w; /* pairs of f16, rows of k / 2 */
    float *c;     /* rows of 32 tokens */
    int k;
};

struct smem { /* 1024-byte aligned */
    u8 x[stages][stage_bytes];
    pipeline::barriers<stages> stage;
};

using stage_ring = pipeline::ring<stages>;

__device__ void cluster_sync()
{
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

__device__ void copying(smem &shared, const problem &p)
{
    stage_ring ring{shared.stage};
    u32 rank = ptx::cluster_ctarank();

    for (int k = 0; k < p.k; k += 64) {
        ptx::mbarrier *full = &shared.stage.full[ring.slot];
        ring.wait_empty();
        ptx::mbarrier_arrive_expect_tx(full, stage_bytes);
        ptx::cp_async_bulk_tensor_2d_multicast(
            shared.x[ring.slot] + rank * half, &p.x, k,
            int(rank) * tokens / 2, full, 3);
        ring.next();
    }
}

/* A's registers: lane 4 g + c has rows g and g + 8, k from 2c and 2c + 8. */
__device__ void multiplying(smem &shared, const problem &p)
{
    stage_ring ring{shared.stage};
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, c = threadIdx.x % 4;
    int row = int(blockIdx.x) * rows + 16 * warp + g;
    float d[tokens / 2] = {};

    for (int k = 0; k < p.k; k += 64) {
        u32 a[4][4];
        for (int i = 0; i < 16; i++)
            a[i / 4][i % 4] = p.w[(row + i % 2 * 8) * (p.k / 2) + k / 2 +
                                  i / 4 * 8 + c + i / 2 % 2 * 4];
        ring.wait_full();
        u64 b = mma::activation_descriptor(
            ptx::shared_address(shared.x[ring.slot]));
        ptx::wgmma_fence();
        for (int i = 0; i < 4; i++)
            ptx::wgmma_mma_async(d, a[i], b + u64(2 * i));
        ptx::wgmma_commit_group();
        ptx::wgmma_wait_group<0>();
        for (u32 i = 0; i < 2; i++)
            ptx::mbarrier_arrive_cluster(&shared.stage.empty[ring.slot], i);
        ring.next();
    }
    for (int i = 0; i < tokens / 2; i++)
        p.c[(row + i / 2 % 2 * 8) * tokens + i / 4 * 8 + 2 * c + i % 2] = d[i];
}

extern "C" __global__ __launch_bounds__(256) void
multicast_pipeline(const __grid_constant__ problem p)
{
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    smem &shared = *reinterpret_cast<smem *>(memory);

    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; i++) {
            ptx::mbarrier_init(&shared.stage.full[i], 1);
            ptx::mbarrier_init(&shared.stage.empty[i], 256);
        }
        ptx::fence_mbarrier_init();
    }
    cluster_sync(); /* begin */
    if (threadIdx.x < 128)
        multiplying(shared, p);
    else if (threadIdx.x / 32 == 4 && ptx::elect_one())
        copying(shared, p);
    cluster_sync(); /* end */
}
