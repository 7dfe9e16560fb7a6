/* SPDX-License-Identifier: MIT */
/* What may follow what on tensor memory: each rule broken in a kernel of its
 * own, and kept in another. */
#include "tensor_unit.h"

using namespace emu_test;

namespace {

/* Scales are overwritten after a product has read them. Variant 3 waits for
 * the copy only. */
void reuse_scales()
{
    begin();
    if (ptx::elect_one()) {
        copy(64);
        if (variant != 3)
            multiply(0, 32, 64, false);
        if (variant > 0)
            commit_and_wait(0);
        if (variant > 1)
            ptx::tcgen05_fence_after_thread_sync();
        if (variant == 3)
            multiply(0, 32, 64, false);
        copy(64);
        commit_and_wait(variant > 0);
    }
    end();
}

/* Products on one accumulator, or on parts of it. */
void two_products()
{
    begin();
    if (ptx::elect_one()) {
        copy(64);
        multiply(0, 32, 64, false);
        multiply(variant == 1 ? 8 : 0, variant == 2 ? 24 : 32, 64,
                 variant != 1);
        commit_and_wait(0);
    }
    end();
}

void two_threads()
{
    begin();
    if (threadIdx.x == 0)
        copy(64);
    __syncwarp();
    if (threadIdx.x == 1)
        multiply(0, 32, 64, false);
    end();
}

/* The second thread knows of the scales, but not of the product. */
void two_threads_add()
{
    begin();
    if (threadIdx.x == 0) {
        copy(64);
        commit_and_wait(0);
        ptx::tcgen05_fence_after_thread_sync();
        multiply(0, 32, 64, false);
    }
    __syncwarp();
    ptx::tcgen05_fence_after_thread_sync();
    if (threadIdx.x == 1)
        multiply(0, 32, 64, true);
    end();
}

/* Another warp's second load has not been waited for when it tells of it. */
void release_before_wait()
{
    float d[8];

    if (threadIdx.x < 32)
        begin();
    if (threadIdx.x == 0) {
        for (u32 column : {0, 4, 64, 68})
            copy(column);
        commit_and_wait(0);
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    if (threadIdx.x >= 32) {
        u32 from = shared().slot + (32 << 16);

        for (int i = 0; i < 2; i++) {
            ptx::tcgen05_ld_32x32b_x8(d, from + (i ? 0 : 64));
            if (i == 0 || variant == 0)
                ptx::tcgen05_wait_ld();
        }
        ptx::tcgen05_fence_before_thread_sync();
    }
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    if (threadIdx.x == 0) {
        copy(0);
        commit_and_wait(1);
    }
    if (threadIdx.x >= 32)
        ptx::tcgen05_wait_ld();
    else
        end();
}

void accumulator_as_scales()
{
    begin();
    if (ptx::elect_one()) {
        copy(64);
        multiply(0, 32, 64, false);
        commit_and_wait(0);
        ptx::tcgen05_fence_after_thread_sync();
        multiply(32, 32, 0, false);
        commit_and_wait(1);
    }
    end();
}

void scales_over_accumulator()
{
    begin();
    if (ptx::elect_one()) {
        copy(16);
        multiply(0, 32, 16, false);
    }
    end();
}

void add_to_nothing()
{
    begin();
    if (ptx::elect_one()) {
        copy(64);
        multiply(0, 32, 64, true);
    }
    end();
}

void free_in_use()
{
    begin();
    if (ptx::elect_one())
        copy(64);
    ptx::tcgen05_dealloc(shared().slot, 128);
}

void commit_without_barrier()
{
    if (variant == 1 && threadIdx.x == 0)
        ptx::mbarrier_init(&shared().barrier, 1);
    __syncwarp();
    if (threadIdx.x == 0)
        ptx::tcgen05_commit(&shared().barrier);
}

void commit_nothing()
{
    if (threadIdx.x != 0)
        return;
    ptx::mbarrier_init(&shared().barrier, 1);
    ptx::fence_mbarrier_init();
    commit_and_wait(0);
    commit_and_wait(1);
}

void test_order()
{
    check(one_product, 32, "");
    variant = 0;
    check(reuse_scales, 32, "tensor-early-overwrite");
    variant = 1;
    check(reuse_scales, 32, "tensor-no-fence");
    variant = 2;
    check(reuse_scales, 32, "");
    variant = 3;
    check(reuse_scales, 32, "tensor-early-overwrite");
    check(two_threads_add, 32, "tensor-early-overwrite");
    check(release_before_wait, 64, "tensor-early-overwrite");
    variant = 0;
    check(release_before_wait, 64, "");
    check(two_products, 32, "");
    variant = 1;
    check(two_products, 32, "tensor-early-overwrite");
    variant = 2;
    check(two_products, 32, "tensor-early-overwrite");
    check(two_threads, 32, "tensor-missing-wait");
    check(accumulator_as_scales, 32, "scales-not-replicated");
    check(scales_over_accumulator, 32, "tensor-early-overwrite");
    check(add_to_nothing, 32, "tensor-uninitialized");
    check(free_in_use, 32, "tensor-freed-early");
    variant = 0;
    check(commit_without_barrier, 32, "barrier-not-initialized");
    variant = 1;
    check(commit_without_barrier, 32, "barrier-no-fence");
    check(commit_nothing, 32, "");
}

} // namespace

int main()
{
    test_order();
    return test_end();
}
