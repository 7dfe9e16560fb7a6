/* SPDX-License-Identifier: MIT */
/* A kernel for tests: one block-scaled product of any width, with operands in
 * any swizzle. One thread issues it, four warps load the accumulator. */
#ifndef EMU_TENSOR_PRODUCT_H
#define EMU_TENSOR_PRODUCT_H

#include <emu.h>

#include <base/types.cuh>
#include <mma/tcgen05_tile.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>

namespace emu_test {

constexpr int m = 128, most_n = 256, most_k = 256;
constexpr size_t a_at = 0, b_at = 16384, scales_at = 49152, end_at = 55296;

inline struct {
    int n, k;
    int span; /* of the swizzle; 0: none */
    u32 instruction;
    u8 a[m][most_k / 2], b[most_n][most_k / 2];
    u8 scales_a[m][most_k / 16], scales_b[most_n][most_k / 16];
    float d[m][most_n];
} test;

inline u64 layout_of(int span)
{
    return span == 128 ? 2 : span == 64 ? 4 : span == 32 ? 6 : 0;
}

/* Bytes of an operand: a part of `span` bytes of k after another; without a
 * swizzle, 16. */
inline u32 place(int row, int byte, int rows, int span)
{
    int width = span ? span : 16;
    int linear = row * width + byte % width;

    if (span)
        linear ^= (linear >> 7 & (span / 16 - 1)) << 4;
    return u32(byte / width * rows * width + linear);
}

inline u64 descriptor(u32 address, int rows, int step)
{
    int byte = step * 32;
    u32 width = test.span ? u32(test.span) : 16;

    if (test.span == 128)
        return mma::operand_descriptor(address) + mma::descriptor_step(byte);
    address += u32(byte) / width * u32(rows) * width + u32(byte) % width;
    return layout_of(test.span) << 61 | u64(1) << 46 |
           u64(8 * width >> 4) << 32 |
           u64(test.span ? 1 : rows * 16 >> 4) << 16 | address >> 4;
}

inline void fill_smem(u8 *memory)
{
    for (int row = int(threadIdx.x); row < m + test.n; row += 128) {
        bool is_a = row < m;
        int r = is_a ? row : row - m;
        u8 *scales = memory + scales_at + (is_a ? 0 : 2048);

        for (int i = 0; i < test.k / 2; i++)
            memory[(is_a ? a_at : b_at) +
                   place(r, i, is_a ? m : test.n, test.span)] =
                is_a ? test.a[r][i] : test.b[r][i];
        for (int i = 0; i < test.k / 16; i++)
            scales[mma::scale_offset(r, i, 4)] =
                is_a ? test.scales_a[r][i] : test.scales_b[r][i];
    }
}

/* Columns: the accumulator, four of A's scales a step, eight of B's. */
inline void issue(u8 *memory, u32 base)
{
    u32 from = ptx::shared_address(memory);
    u32 scales_a = base + 256, scales_b = base + 272;

    for (int i = 0; i < test.k / 64; i++) {
        u32 atom = from + u32(scales_at) + u32(512 * i);
        u32 sfa = scales_a + u32(4 * i), sfb = scales_b + u32(8 * i);

        ptx::tcgen05_cp_32x128b_warpx4(sfa, mma::scale_descriptor(atom));
        for (u32 j = 0; j < 2; j++)
            ptx::tcgen05_cp_32x128b_warpx4(
                sfb + 4 * j, mma::scale_descriptor(atom + 2048 * (1 + j)));
        ptx::tcgen05_mma_mxf4nvf4(base, descriptor(from, m, i),
                                  descriptor(from + u32(b_at), test.n, i),
                                  test.instruction, sfa, sfb, i > 0);
    }
}

inline void store(u32 base)
{
    u32 warp = threadIdx.x / 32;

    for (int column = 0; column < test.n; column += 8) {
        float d[8];

        ptx::tcgen05_ld_32x32b_x8(
            d, mma::tensor_address(base, int(32 * warp), column));
        ptx::tcgen05_wait_ld();
        for (int i = 0; i < 8; i++)
            test.d[threadIdx.x][column + i] = d[i];
    }
}

inline void product()
{
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    auto *barrier = reinterpret_cast<ptx::mbarrier *>(memory + end_at);
    u32 *slot = reinterpret_cast<u32 *>(memory + end_at + 8);

    if (threadIdx.x < 32)
        ptx::tcgen05_alloc(slot, 512);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(barrier, 1);
        ptx::fence_mbarrier_init();
    }
    fill_smem(memory);
    ptx::fence_proxy_async();
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    u32 base = *slot;
    if (threadIdx.x / 32 == 1 && ptx::elect_one()) {
        issue(memory, base);
        ptx::tcgen05_commit(barrier);
    }
    while (!ptx::mbarrier_try_wait(barrier, 0))
        continue;
    ptx::tcgen05_fence_after_thread_sync();
    store(base);
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    if (threadIdx.x < 32)
        ptx::tcgen05_dealloc(base, 512);
}

} // namespace emu_test

#endif
