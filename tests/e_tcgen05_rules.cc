/* SPDX-License-Identifier: MIT */
/* What may follow what on tensor memory, and the bits of descriptors: each
 * rule broken in a kernel of its own, and kept in another. */
#include "tensor_unit.h"

using namespace emu_test;

namespace {

u32 bad_word;       /* to change in a descriptor */
u64 bad_descriptor; /* likewise */

void multiply(u32 d, int n, u32 scales, bool accumulate)
{
    u64 operand =
        mma::operand_descriptor(ptx::shared_address(shared().operand));
    u32 base = shared().slot;

    ptx::tcgen05_mma_mxf4nvf4(base + d, operand ^ bad_descriptor, operand,
                              mma::product_instruction(128, n) ^ bad_word,
                              base + scales, base + scales, accumulate);
}

/* One product of 32 columns; scales at 64. */
void one_product()
{
    begin();
    if (ptx::elect_one()) {
        copy(64);
        multiply(0, 32, 64, false);
        commit_and_wait(0);
    }
    end();
}

/* Scales are overwritten after a product has read them. */
void reuse_scales()
{
    begin();
    if (ptx::elect_one()) {
        copy(64);
        multiply(0, 32, 64, false);
        if (variant > 0)
            commit_and_wait(0);
        if (variant > 1)
            ptx::tcgen05_fence_after_thread_sync();
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
    variant = 0;
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

/* Bits of both descriptors that change what the product could do. */
void test_descriptors()
{
    static const u32 words[] = {
        1 << 2,  1 << 3,  1 << 4,   1 << 6,  1 << 8,
        1 << 11, 1 << 15, 1 << 16,  1 << 27, 1 << 28,
        1 << 29, 1 << 30, 1u << 31, 4 << 17 /* no n */};
    static const struct {
        u64 change;
        const char *name;
    } descriptors[] = {{u64(1) << 14, "bad-descriptor"},
                       {u64(1) << 31, "bad-descriptor"},
                       {u64(1) << 46, "bad-descriptor"},
                       {u64(1) << 47, "bad-descriptor"},
                       {u64(1) << 48, "bad-descriptor"},
                       {u64(1) << 49, "misaligned"},
                       {u64(1) << 52, "bad-descriptor"},
                       {u64(1) << 60, "bad-descriptor"},
                       {u64(1) << 61, "bad-descriptor"},
                       {u64(3) << 61, "bad-descriptor"},
                       {u64(64) << 32, "bad-descriptor"},
                       {u64(32) << 32, "misaligned"},
                       {u64(8), "misaligned"},
                       {u64(7), "bad-descriptor"},
                       {u64(192) << 32, "shared-out-of-bounds"}};

    for (u32 word : words) {
        variant = int(word);
        bad_word = word;
        check(one_product, 32, "bad-instruction");
    }
    bad_word = 0;
    for (const auto &descriptor : descriptors) {
        variant = int(&descriptor - descriptors);
        bad_descriptor = descriptor.change;
        check(one_product, 32, descriptor.name);
    }
    bad_descriptor = 0;
}

} // namespace

int main()
{
    test_order();
    test_descriptors();
    return test_end();
}
