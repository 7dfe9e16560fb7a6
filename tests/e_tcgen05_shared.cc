/* SPDX-License-Identifier: MIT */
/* Shared memory that copies write and work on tensor memory reads: who has to
 * wait for what. */
#include "tensor_unit.h"

#include <ptx/tma.cuh>

using namespace emu_test;

namespace {

alignas(16) u8 global[512];

void load(u8 *to, ptx::mbarrier *barrier)
{
    ptx::mbarrier_arrive_expect_tx(barrier, sizeof global);
    ptx::cp_async_bulk(to, global, sizeof global, barrier);
}

void wait(ptx::mbarrier *barrier, u32 parity)
{
    while (!ptx::mbarrier_try_wait(barrier, parity))
        continue;
}

/* A copy from global memory to scales, or an operand, that are read next. */
void read_what_lands()
{
    ptx::mbarrier *barrier = &shared().barrier;

    begin();
    if (ptx::elect_one()) {
        if (variant < 2)
            copy(64);
        load(variant < 2 ? shared().operand : shared().scales, barrier);
        if (variant % 2)
            wait(barrier, 0);
        if (variant < 2)
            multiply(0, 32, 64, false);
        else
            copy(64);
        commit_and_wait(variant % 2);
    }
    end();
}

/* Scales in shared memory are overwritten after a copy has read them. */
void overwrite_what_is_read()
{
    begin();
    if (ptx::elect_one()) {
        copy(64);
        if (variant == 1)
            commit_and_wait(0);
        load(shared().scales, &shared().barrier);
        wait(&shared().barrier, variant == 1);
        if (variant == 0)
            commit_and_wait(1);
    }
    end();
}

} // namespace

int main()
{
    for (variant = 0; variant < 4; variant++)
        check(read_what_lands, 32, variant % 2 ? "" : "missing-wait");
    variant = 0;
    check(overwrite_what_is_read, 32, "early-overwrite");
    variant = 1;
    check(overwrite_what_is_read, 32, "");
    return test_end();
}
