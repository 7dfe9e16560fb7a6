/* SPDX-License-Identifier: MIT */
/* Blocks of a cluster on the emulator: their barrier, each other's memory, and
 * the reports where they may not touch it. */
#include "cluster_unit.h"

#include <ptx/tma.cuh>

using namespace emu_test;

namespace {

alignas(16) unsigned seen; /* blocks, a bit each */

/* A grid of 4 x 4 in clusters of 2 x 4. */
void places()
{
    CHECK_INT(ptx::cluster_nctarank(), 8);
    CHECK_INT(ptx::cluster_ctarank(), blockIdx.x % 2 + blockIdx.y * 2);
    CHECK_INT(ptx::shared_address(ptx::dynamic_smem()) >> 24,
              ptx::cluster_ctarank());
    seen |= 1u << (blockIdx.x + 4 * blockIdx.y);
}

std::string launch_places(unsigned width, unsigned x, unsigned y)
{
    char report[1024];
    emu_launch launch{};

    launch.grid[0] = width;
    launch.grid[1] = 4;
    launch.grid[2] = 1;
    launch.cluster[0] = x;
    launch.cluster[1] = y;
    launch.block[0] = 32;
    launch.block[1] = launch.block[2] = 1;
    launch.report = report;
    launch.report_bytes = sizeof report;
    emu::run_function(&launch, places);
    return report;
}

void test_places()
{
    CHECK_STR(launch_places(4, 2, 4).c_str(), "");
    CHECK_INT(seen, 0xffff);
    CHECK(launch_places(5, 2, 4).find("bad-launch") == 0);
    CHECK(launch_places(4, 4, 4).find("bad-launch") == 0); /* 16 blocks */
}

/* Every thread reads what a thread of another block wrote. */
void exchange()
{
    u32 rank = ptx::cluster_ctarank(), count = ptx::cluster_nctarank();
    u32 peer = (rank + 1) % count, thread = threadIdx.x;

    if (variant != 1)
        cluster_sync();
    store(&shared().value[thread], 100 * rank + thread);
    if (variant != 2)
        cluster_sync();
    u32 got = load(ptx::mapa(&shared().value[31 - thread], peer));
    CHECK(variant || got == 100 * peer + 31 - thread);
    store(ptx::mapa(&shared().value[32 + thread], peer), rank);
    if (variant == 3)
        store(ptx::mapa(reinterpret_cast<u32 *>(&shared() + 2), peer), 0);
    if (variant == 4)
        ptx::mapa(&shared(), count);
    if (variant == 5)
        ptx::mbarrier_init(ptx::mapa(&shared().barrier, peer), 1);
    if (variant != 6)
        cluster_sync();
    CHECK(variant ||
          load(&shared().value[32 + thread]) == (rank + count - 1) % count);
}

void test_memory()
{
    for (unsigned blocks = 1; blocks <= 8; blocks *= 2)
        check(exchange, blocks, 0, "");
    check(exchange, 2, 2, "race");
    check(exchange, 2, 3, "shared-out-of-bounds");
    check(exchange, 2, 4, "bad-operand");
    check(exchange, 2, 5, "shared-out-of-bounds");
    check(exchange, 2, 6, "peer-exited");
}

/* The barrier of the cluster, wrongly. */
void misuse()
{
    if (variant != 2)
        ptx::barrier_cluster_arrive();
    if (variant == 1) {
        ptx::barrier_cluster_arrive();
        return;
    }
    if (variant == 3 && threadIdx.x == 5)
        return; /* having arrived */
    if (variant == 4 && ptx::cluster_ctarank() == 1)
        return;
    ptx::barrier_cluster_wait();
    if (variant == 5 && threadIdx.x % 2)
        return; /* nobody waits for who has ended */
    cluster_sync();
}

/* Before the first barrier: of each other they know nothing. */
void too_early()
{
    u32 peer = 1 - ptx::cluster_ctarank();

    if (variant == 0)
        load(ptx::mapa(shared().value, peer));
    else if (variant == 1)
        ptx::mbarrier_arrive_cluster(&shared().barrier, peer);
    else
        ptx::cp_async_bulk_multicast(shared().landed, &seen, 0,
                                     &shared().barrier, u16(1 << peer));
}

void test_barrier()
{
    check(misuse, 4, 0, "");
    check(misuse, 4, 1, "cluster-barrier-misuse");
    check(misuse, 4, 2, "cluster-barrier-misuse");
    check(misuse, 4, 3, "");
    check(misuse, 4, 4, "");
    check(misuse, 4, 5, "");
    for (int i = 0; i < 3; i++)
        check(too_early, 2, i, "peer-not-started");
}

} // namespace

int main()
{
    test_places();
    test_memory();
    test_barrier();
    return test_end();
}
