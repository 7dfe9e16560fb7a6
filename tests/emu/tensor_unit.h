/* SPDX-License-Identifier: MIT */
/* For tests of tensor memory's rules: kernels of one warp or a few, whose
 * shared memory has an operand and scales, and what they begin and end with.
 */
#ifndef EMU_TENSOR_UNIT_H
#define EMU_TENSOR_UNIT_H

#include <emu.h>

#include <base/types.cuh>
#include <mma/tcgen05_tile.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>

#include "unit.h"

namespace emu_test {

inline int variant; /* of a kernel: what it leaves out */

struct smem {
    u8 operand[16384];
    u8 scales[512];
    ptx::mbarrier barrier;
    u32 slot, second;
};

inline smem &shared()
{
    u8 *memory = ptx::dynamic_smem();

    return *reinterpret_cast<smem *>(memory +
                                     (-ptx::shared_address(memory) & 1023));
}

constexpr size_t shared_bytes = sizeof(smem) + 1024;

inline void check(void (*kernel)(), unsigned threads, const char *name)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        std::string report = run_once(kernel, threads, seed, shared_bytes);
        std::string got = report.substr(0, report.find(':'));

        if (got != name)
            fprintf(stderr, "variant %d: %s\n", variant, report.c_str());
        CHECK_STR(got.c_str(), name);
    }
}

/* Waits for all that this thread has issued. */
inline void commit_and_wait(u32 parity)
{
    ptx::tcgen05_commit(&shared().barrier);
    while (!ptx::mbarrier_try_wait(&shared().barrier, parity))
        continue;
}

inline void begin()
{
    ptx::tcgen05_alloc(&shared().slot, 128);
    for (u32 i = threadIdx.x; i < sizeof shared().operand; i += 32)
        shared().operand[i] = u8(i * 7);
    for (u32 i = threadIdx.x; i < 512; i += 32)
        shared().scales[i] = u8(i % 119);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&shared().barrier, 1);
        ptx::fence_mbarrier_init();
    }
    ptx::fence_proxy_async();
    __syncwarp();
}

inline void end()
{
    __syncwarp();
    ptx::tcgen05_fence_after_thread_sync();
    ptx::tcgen05_dealloc(shared().slot, 128);
}

inline void copy(u32 column)
{
    ptx::tcgen05_cp_32x128b_warpx4(
        shared().slot + column,
        mma::scale_descriptor(ptx::shared_address(shared().scales)));
}

/* To change in the descriptors of multiply(). */
inline u32 bad_word;
inline u64 bad_descriptor;

inline void multiply(u32 d, int n, u32 scales, bool accumulate)
{
    u64 operand =
        mma::operand_descriptor(ptx::shared_address(shared().operand));
    u32 base = shared().slot;

    ptx::tcgen05_mma_mxf4nvf4(base + d, operand ^ bad_descriptor, operand,
                              mma::product_instruction(128, n) ^ bad_word,
                              base + scales, base + scales, accumulate);
}

/* One product of 32 columns; scales at 64. */
inline void one_product()
{
    begin();
    if (ptx::elect_one()) {
        copy(64);
        multiply(0, 32, 64, false);
        commit_and_wait(0);
    }
    end();
}

} // namespace emu_test

#endif
