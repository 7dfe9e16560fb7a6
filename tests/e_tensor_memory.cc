/* SPDX-License-Identifier: MIT */
/* Tensor memory on the emulator: who allocates, frees and loads what, and what
 * is in it. */
#include "tensor_unit.h"

#include "half.h"
#include "machine.h"

using namespace emu_test;

namespace {

u32 columns; /* to allocate */

void allocate()
{
    ptx::tcgen05_alloc(&shared().slot, columns);
    ptx::tcgen05_dealloc(shared().slot, columns);
}

void allocate_unequal()
{
    ptx::tcgen05_alloc(&shared().slot, threadIdx.x == 5 ? 32 : 64);
}

void allocate_too_much()
{
    ptx::tcgen05_alloc(&shared().slot, 512);
    ptx::tcgen05_alloc(&shared().second, 32);
}

/* Each warp gets all columns, one after another. */
void allocate_in_turns()
{
    u32 *slot = reinterpret_cast<u32 *>(shared().operand) + threadIdx.x / 32;

    for (int i = 0; i < 3; i++) {
        ptx::tcgen05_alloc(slot, 512);
        CHECK_INT(*slot, 0);
        ptx::tcgen05_dealloc(*slot, 512);
    }
}

void allocate_parts()
{
    static const u32 sizes[] = {32, 256, 64, 32, 128};
    u32 *slot = &shared().slot, base[5];
    u32 seen[16] = {};

    for (int i = 0; i < 5; i++) {
        ptx::tcgen05_alloc(slot, sizes[i]);
        base[i] = *slot;
        for (u32 j = 0; j < sizes[i]; j += 32)
            CHECK_INT(seen[(base[i] + j) / 32]++, 0);
        __syncwarp();
    }
    for (int i = 0; i < 5; i++)
        ptx::tcgen05_dealloc(base[i], sizes[i]);
}

void keep()
{
    ptx::tcgen05_alloc(&shared().slot, 32);
}

void free_twice()
{
    allocate();
    ptx::tcgen05_dealloc(shared().slot, columns);
}

/* Only a barrier and fences tell another warp of an allocation. */
void hand_over()
{
    float d[8];

    if (threadIdx.x < 32) {
        ptx::tcgen05_alloc(&shared().slot, 32);
        if (variant != 1)
            ptx::tcgen05_fence_before_thread_sync();
    }
    __syncthreads();
    if (variant != 2)
        ptx::tcgen05_fence_after_thread_sync();
    if (threadIdx.x >= 32)
        ptx::tcgen05_ld_32x32b_x8(d, shared().slot + (32 << 16));
}

void free_by_another()
{
    if (threadIdx.x < 32)
        ptx::tcgen05_alloc(&shared().slot, 32);
    __syncthreads();
    if (threadIdx.x >= 32)
        ptx::tcgen05_dealloc(shared().slot, 32);
}

void relinquish_and_allocate()
{
    if (threadIdx.x < 32)
        ptx::tcgen05_relinquish_alloc_permit();
    __syncthreads();
    if (threadIdx.x >= 32)
        ptx::tcgen05_alloc(&shared().slot, 32);
}

void allocate_misaligned()
{
    ptx::tcgen05_alloc(reinterpret_cast<u32 *>(shared().operand + 2), 32);
}

template <int n> void check_load(void (*load)(float (&)[n], u32), u32 warp)
{
    float d[n];

    load(d, shared().slot + (warp % 4 * 32 << 16));
    for (float x : d)
        CHECK_INT(emu::bits_of_float(x), emu::register_poison);
    ptx::tcgen05_wait_ld();
    for (u32 i = 0; i < n; i++) {
        u32 word;

        memcpy(&word, shared().scales + threadIdx.x % 32 * 16 + i % 4 * 4, 4);
        CHECK_INT(emu::bits_of_float(d[i]), word);
    }
}

/* Every warp loads its lanes of what was copied to columns 0 to 31. */
void load_all()
{
    u32 warp = threadIdx.x / 32;

    if (warp == 0)
        begin();
    if (threadIdx.x == 0) {
        for (u32 i = 0; i < 32; i += 4)
            copy(i);
        commit_and_wait(0);
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    check_load<8>(ptx::tcgen05_ld_32x32b_x8, warp);
    check_load<16>(ptx::tcgen05_ld_32x32b_x16, warp);
    check_load<32>(ptx::tcgen05_ld_32x32b_x32, warp);
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    if (warp == 0)
        end();
}

void elect()
{
    static u32 elected[2];
    u32 warp = threadIdx.x / 32;

    for (int i = 0; i < 3; i++)
        if (ptx::elect_one()) {
            if (i == 0)
                elected[warp] = threadIdx.x;
            CHECK_INT(elected[warp], threadIdx.x);
            shared().operand[3 * warp + u32(i)] = 1;
        }
    __syncthreads();
    for (u32 i = 0; i < 6; i++)
        CHECK_INT(shared().operand[i], 1);
}

void test_allocation()
{
    for (columns = 32; columns <= 512; columns *= 2)
        check(allocate, 32, "");
    for (u32 bad : {0, 16, 48, 96, 320, 1024}) {
        columns = bad;
        check(allocate, 32, "bad-alloc");
    }
    columns = 64;
    check(allocate_unequal, 32, "unequal-arguments");
    check(allocate_too_much, 32, "deadlock");
    check(allocate_in_turns, 128, "");
    check(allocate_parts, 32, "");
    check(keep, 32, "tensor-not-freed");
    check(free_twice, 32, "bad-dealloc");
    check(free_by_another, 64, "bad-dealloc");
    check(relinquish_and_allocate, 64, "alloc-after-relinquish");
    check(allocate_misaligned, 32, "misaligned");
    variant = 0;
    check(hand_over, 64, "tensor-uninitialized");
    variant = 1;
    check(hand_over, 64, "tensor-no-fence");
    variant = 2;
    check(hand_over, 64, "tensor-no-fence");
}

} // namespace

int main()
{
    test_allocation();
    check(load_all, 256, "");
    check(elect, 64, "");
    return test_end();
}
