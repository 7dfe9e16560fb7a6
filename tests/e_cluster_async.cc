/* SPDX-License-Identifier: MIT */
/* Arrivals at other blocks' barriers, copies to several blocks, and tensor
 * memory of pairs, on the emulator. */
#include "cluster_unit.h"

#include <ptx/tcgen05.cuh>
#include <ptx/tma.cuh>

using namespace emu_test;

namespace {

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

/* Two warps of the leader come, none of the other block. */
void allocate_alone()
{
    cluster_sync();
    if (ptx::cluster_ctarank() == 0)
        ptx::tcgen05_alloc<2>(shared().value + threadIdx.x / 32, 32);
    cluster_sync();
}

void test_pairs()
{
    for (unsigned blocks = 2; blocks <= 8; blocks *= 2)
        check(allocate, blocks, 0, "");
    check(allocate, 1, 9, "no-pair");
    check(allocate, 3, 9, "no-pair");
    check(allocate, 2, 1, "tensor-not-freed");
    check(allocate, 2, 2, "cta-group-mixed");
    std::string report = run_once(allocate_alone, 64, 1, sizeof(smem), 2);
    CHECK(report.find("no-pair") == 0);
}

} // namespace

int main()
{
    test_arrivals();
    test_multicast();
    test_pairs();
    return test_end();
}
