/* SPDX-License-Identifier: MIT */
/* Barriers with transaction counts on the emulator, and its reports. */
#include <emu.h>

#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/tma.cuh>

#include "unit.h"

using namespace emu_test;

namespace {

ptx::mbarrier *barriers()
{
    return reinterpret_cast<ptx::mbarrier *>(ptx::dynamic_smem());
}

void wait(ptx::mbarrier *barrier, u32 parity)
{
    while (!ptx::mbarrier_try_wait(barrier, parity))
        continue;
}

void make_barrier(u32 count)
{
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(barriers(), count);
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
}

/* 64 threads pass a number on through ten phases. */
void phases()
{
    static int rounds;

    make_barrier(64);
    if (threadIdx.x == 0) {
        CHECK(!ptx::mbarrier_try_wait(barriers(), 0));
        CHECK(ptx::mbarrier_try_wait(barriers(), 1)); /* before the first */
        rounds = 0;
    }
    __syncthreads();
    for (u32 i = 0; i < 10; i++) {
        if (threadIdx.x == i)
            rounds++;
        ptx::mbarrier_arrive(barriers());
        wait(barriers(), i & 1);
        CHECK_INT(rounds, i + 1);
        __syncthreads();
    }
}

void wrong_parity()
{
    make_barrier(32);
    ptx::mbarrier_arrive(barriers());
    wait(barriers(), 1);
    wait(barriers(), 1);
}

void too_many()
{
    make_barrier(1);
    ptx::mbarrier_arrive_expect_tx(barriers(), 16);
    ptx::mbarrier_arrive(barriers());
}

void never_made()
{
    ptx::mbarrier_arrive(barriers() + 1);
}

void made_twice()
{
    ptx::mbarrier_init(barriers(), 1);
    ptx::mbarrier_init(barriers(), 1);
}

void written_over()
{
    make_barrier(1);
    barriers()->word = 7;
    ptx::mbarrier_arrive(barriers());
}

void misaligned_barrier()
{
    ptx::mbarrier_init(
        reinterpret_cast<ptx::mbarrier *>(ptx::dynamic_smem() + 4), 1);
}

/* The second copy lands when the phase is over. */
void half_expected()
{
    alignas(16) static u8 source[16];

    make_barrier(1);
    ptx::mbarrier_arrive_expect_tx(barriers(), 16);
    ptx::cp_async_bulk(ptx::dynamic_smem() + 16, source, 16, barriers());
    ptx::cp_async_bulk(ptx::dynamic_smem() + 32, source, 16, barriers());
    wait(barriers(), 0);
    wait(barriers(), 1);
}

void left_copy()
{
    alignas(16) static u8 source[16];

    make_barrier(1);
    ptx::mbarrier_arrive_expect_tx(barriers(), 16);
    ptx::cp_async_bulk(ptx::dynamic_smem() + 16, source, 16, barriers());
}

} // namespace

int main()
{
    check_report(phases, 64, "");
    check_named(wrong_parity, 32, "deadlock");
    check_named(too_many, 1, "arrive-nothing-pending");
    check_named(never_made, 1, "barrier-not-initialized");
    check_named(made_twice, 1, "barrier-reinitialized");
    check_named(written_over, 1, "barrier-overwritten");
    check_named(misaligned_barrier, 1, "misaligned");
    check_named(half_expected, 1, "wrong-byte-count");
    /* Some seeds let it land late. */
    int left = 0;
    for (uint64_t seed = 0; seed < seeds; seed++)
        left += run_once(left_copy, 1, seed).find("unfinished-copy") == 0;
    CHECK(left > 0);
    return test_end();
}
