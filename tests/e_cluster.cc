/* SPDX-License-Identifier: MIT */
/* Blocks of a cluster on the emulator: their barrier, each other's memory,
 * arrivals and copies to several of them, and the reports where they may not.
 */
#include <emu.h>

#include <base/types.cuh>
#include <ptx/cluster.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/tcgen05.cuh>
#include <ptx/tma.cuh>

#include "shared.h"
#include "unit.h"

using namespace emu_test;

namespace {

int variant; /* of a kernel: what it does wrong */

struct smem {
    u32 value[64];
    u8 landed[1024];
    ptx::mbarrier barrier;
};

smem &shared()
{
    return *reinterpret_cast<smem *>(ptx::dynamic_smem());
}

/* Plain accesses, which the emulator sees only in kernels compiled so. */
u32 load(u32 *from)
{
    emu::shared_access(from, sizeof *from, false);
    return *from;
}

void store(u32 *to, u32 value)
{
    emu::shared_access(to, sizeof *to, true);
    *to = value;
}

void cluster_sync()
{
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

void wait(ptx::mbarrier *barrier, u32 parity)
{
    while (!ptx::mbarrier_try_wait(barrier, parity))
        continue;
}

/* By thread 0 of each block, for all of the cluster. */
void make_barrier(u32 count)
{
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&shared().barrier, count);
        if (variant != 9)
            ptx::fence_mbarrier_init();
    }
    cluster_sync();
}

/* What may come first: "one" or "one|other". */
void check(void (*kernel)(), unsigned blocks, int which, const char *names)
{
    std::string all = "|" + std::string(names) + "|";

    variant = which;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        std::string report = run_once(kernel, 32, seed, sizeof(smem), blocks);
        std::string got = report.substr(0, report.find(':'));

        CHECK(all.find("|" + got + "|") != all.npos);
        if (all.find("|" + got + "|") == all.npos)
            fprintf(stderr, "variant %d: %s\n", variant, report.c_str());
    }
    variant = 0;
}

unsigned seen; /* blocks, a bit each */

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

/* Block 0 hands a number on to block 1 and so on round the cluster. */
void arrivals()
{
    u32 rank = ptx::cluster_ctarank(), count = ptx::cluster_nctarank();
    u32 next = (rank + 1) % count;

    make_barrier(variant == 1 ? 2 : 1);
    for (u32 i = 0; i < 3 && threadIdx.x == 0; i++) {
        if ((rank || i) && variant != 4)
            wait(&shared().barrier, (rank ? i : i - 1) & 1);
        u32 value = rank || i ? load(shared().value) : 0;
        CHECK(variant || value == i * count + rank);
        store(ptx::mapa(shared().value, next), value + 1);
        if (variant != 2)
            ptx::mbarrier_arrive_cluster(&shared().barrier,
                                         variant == 3 ? count : next);
    }
    if (variant == 5 && rank == 0)
        return;
    cluster_sync();
}

void test_arrivals()
{
    for (unsigned blocks = 1; blocks <= 8; blocks *= 2)
        check(arrivals, blocks, 0, "");
    check(arrivals, 2, 1, "deadlock");
    check(arrivals, 2, 2, "deadlock");
    check(arrivals, 2, 3, "bad-operand");
    check(arrivals, 2, 4, "race");
    check(arrivals, 2, 5, "peer-exited");
    check(arrivals, 2, 9, "barrier-no-fence");
}

alignas(16) u8 source[1024];
u32 mask;

/* Block 1 copies to those of the mask. */
void multicast()
{
    u32 rank = ptx::cluster_ctarank();
    bool named = mask >> rank & 1;

    make_barrier(1);
    if (threadIdx.x == 0 && named && variant != 1)
        ptx::mbarrier_arrive_expect_tx(&shared().barrier,
                                       variant == 2 ? 1008 : 1024);
    if (threadIdx.x == 0 && variant == 3)
        load(reinterpret_cast<u32 *>(shared().landed));
    if (threadIdx.x == 0 && rank == 1)
        ptx::cp_async_bulk_multicast(shared().landed, source, sizeof source,
                                     &shared().barrier, u16(mask));
    if (named && variant != 4)
        wait(&shared().barrier, 0);
    for (u32 i = threadIdx.x; i < sizeof source && !variant; i += 32)
        CHECK_INT(shared().landed[i], named ? source[i] : 0xff);
    if (variant != 5)
        cluster_sync();
}

void test_multicast()
{
    for (u32 i = 0; i < sizeof source; i++)
        source[i] = u8(i * 7 % 251);
    for (u32 each : {0xbu, 0x2u, 0xfu, 0xdu}) {
        mask = each;
        check(multicast, 4, 0, "");
    }
    mask = 0xd;
    check(multicast, 4, 1, "deadlock");
    check(multicast, 4, 2, "wrong-byte-count");
    check(multicast, 4, 3, "early-overwrite|missing-wait");
    mask = 1;
    check(multicast, 2, 4, "peer-exited");
    check(multicast, 2, 5, "");
    mask = 0;
    check(multicast, 4, 0, "bad-multicast");
    mask = 0x10;
    check(multicast, 4, 0, "bad-multicast");
}

/* Two allocations of each pair, at the same places in both of its blocks. */
void allocate()
{
    u32 *first = shared().value, *second = shared().value + 1;

    cluster_sync();
    ptx::tcgen05_alloc<2>(first, 64);
    ptx::tcgen05_alloc<2>(second, 32);
    cluster_sync();
    for (u32 *slot : {first, second}) {
        u32 other = *ptx::mapa(slot, ptx::cluster_ctarank() ^ 1);
        CHECK(variant || *slot == other);
    }
    CHECK(variant || *first != *second);
    ptx::tcgen05_fence_before_thread_sync();
    cluster_sync();
    ptx::tcgen05_fence_after_thread_sync();
    ptx::tcgen05_dealloc<2>(*first, 64);
    if (variant != 1)
        ptx::tcgen05_dealloc<2>(*second, 32);
    if (variant == 2)
        ptx::tcgen05_relinquish_alloc_permit();
}

void test_pairs()
{
    for (unsigned blocks = 2; blocks <= 8; blocks *= 2)
        check(allocate, blocks, 0, "");
    check(allocate, 1, 9, "no-pair");
    check(allocate, 3, 9, "no-pair");
    check(allocate, 2, 1, "tensor-not-freed");
    check(allocate, 2, 2, "cta-group-mixed");
}

} // namespace

int main()
{
    test_places();
    test_memory();
    test_barrier();
    test_arrivals();
    test_multicast();
    test_pairs();
    return test_end();
}
