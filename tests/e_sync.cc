/* SPDX-License-Identifier: MIT */
/* Barriers, matrix stores, register shares and reports of the emulator. */
#include <emu.h>

#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tma.cuh>
#include <ptx/wgmma.cuh>

#include "test.h"

#include <string>

namespace {

constexpr int seeds = 20;
u32 results[128];

std::string run_once(void (*kernel)(), unsigned threads, uint64_t seed,
                     size_t shared_bytes = 4096)
{
    char report[2048];
    emu_launch launch{{1, 1, 1}, {threads, 1, 1}, shared_bytes, nullptr, seed,
                      nullptr,   report, sizeof report,         nullptr,
                      nullptr};
    int failed = emu::run_function(&launch, kernel);

    CHECK_INT(failed, report[0] != 0);
    return report;
}

/* The same for every seed, but for what follows " [". */
std::string run(void (*kernel)(), unsigned threads)
{
    std::string first, report;

    for (uint64_t seed = 0; seed < seeds; seed++) {
        report = run_once(kernel, threads, seed);
        report = report.substr(0, report.find(" ["));
        if (seed == 0)
            first = report;
        CHECK_STR(report.c_str(), first.c_str());
    }
    return first;
}

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

void left_copy()
{
    alignas(16) static u8 source[16];

    make_barrier(1);
    ptx::mbarrier_arrive_expect_tx(barriers(), 16);
    ptx::cp_async_bulk(ptx::dynamic_smem() + 16, source, 16, barriers());
}

/* Threads 0-63 and 64-127 each have a barrier. */
void named()
{
    u32 half = threadIdx.x / 64;

    for (u32 i = 0; i < 4; i++) {
        results[threadIdx.x] = i;
        ptx::bar_sync(1 + half, 64);
        for (u32 j = 0; j < 64; j++)
            CHECK_INT(results[64 * half + j], i);
        ptx::bar_sync(1 + half, 64);
    }
}

void named_short()
{
    if (threadIdx.x < 32)
        ptx::bar_sync(3, 64);
}

void named_unlike()
{
    ptx::bar_sync(3, threadIdx.x < 32 ? 64 : 96);
}

/* Eight 16-byte rows a matrix; element (i, j) of the matrix that is stored is
 * 16 i + j, or its transpose. */
void store()
{
    u8 *memory = ptx::dynamic_smem();
    u32 lane = threadIdx.x, row = lane / 4, column = lane % 4 * 2;
    u32 pair = (16 * row + column) | (16 * row + column + 1) << 16;
    u32 two[] = {pair, pair + 0x01000100};

    ptx::stmatrix_x2_trans(memory + 16 * (lane % 16), two[0], two[1]);
    emu::stmatrix(memory + 1024 + 32 * (lane % 16), two, 2, false);
    ptx::syncwarp();
    const u16 *cells = reinterpret_cast<const u16 *>(memory);
    const u16 *others = reinterpret_cast<const u16 *>(memory + 1024);
    for (u32 i = 0; i < 16; i++)
        for (u32 j = 0; j < 8; j++) {
            u32 above = i / 8 * 0x100;

            CHECK_INT(cells[8 * i + j], above + 16 * j + i % 8);
            CHECK_INT(others[16 * i + j], above + 16 * (i % 8) + j);
        }
}

void registers_wait()
{
    if (threadIdx.x < 128)
        ptx::setmaxnreg_dec<24>();
    else
        ptx::setmaxnreg_inc<240>();
}

void registers_missing()
{
    if (threadIdx.x < 128)
        ptx::setmaxnreg_dec<32>();
    else
        ptx::setmaxnreg_inc<240>();
}

void registers_wrong()
{
    ptx::setmaxnreg_dec<248>();
}

void lanes_apart()
{
    if (threadIdx.x % 2)
        ptx::syncwarp();
    else
        ptx::wgmma_fence();
}

void lane_missing()
{
    if (threadIdx.x != 7)
        ptx::syncwarp();
}

void writes_around()
{
    ptx::dynamic_smem()[-1] = 0;
}

/* A write, seen by a product with or without the fence of the writer. */
template <bool by_writer> void fences()
{
    u8 *memory = ptx::dynamic_smem();
    float d[4] = {};
    u32 a[4] = {};

    memory += -ptx::shared_address(memory) & 255;
    if (threadIdx.x == 5)
        memory[0] = 1;
    if (threadIdx.x == (by_writer ? 5 : 6))
        emu::fence_proxy_async();
    __syncthreads();
    ptx::wgmma_fence();
    ptx::wgmma_mma_async(d, a,
                         u64(16) << 32 | u64(8) << 16 |
                             ptx::shared_address(memory) >> 4);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
}

void check_report(void (*kernel)(), unsigned threads, const char *want)
{
    std::string report = run(kernel, threads);

    CHECK_STR(report.c_str(), want);
}

/* The address of a block's memory depends on the seed. */
void check_named(void (*kernel)(), unsigned threads, const char *name)
{
    for (uint64_t seed = 0; seed < seeds; seed++) {
        std::string report = run_once(kernel, threads, seed);

        report = report.substr(0, report.find(':'));
        CHECK_STR(report.c_str(), name);
    }
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
    check_report(named, 128, "");
    check_report(named_short, 64,
              "deadlock: threads 0-31 wait for bar.sync 3 of 64 threads");
    check_named(named_unlike, 96, "unequal-arguments");
    check_report(store, 32, "");
    check_report(registers_wait, 384, "");
    check_named(registers_missing, 384, "deadlock");
    check_named(registers_wrong, 384, "bad-operand");
    check_named(lanes_apart, 128, "unequal-arguments");
    check_report(lane_missing, 32,
              "deadlock: threads 0-6 wait for the other lanes at "
              "bar.warp.sync; threads 8-31 wait for the other lanes at "
              "bar.warp.sync");
    check_named(writes_around, 1, "shared-out-of-bounds");
    check_report(fences<true>, 128, "");
    check_named(fences<false>, 128, "no-proxy-fence");
    check_report(fences<true>, 128, "");
    /* Seeds that let it land late. */
    int left = 0;
    for (uint64_t seed = 0; seed < seeds; seed++)
        left += run_once(left_copy, 1, seed).find("unfinished-copy") == 0;
    CHECK(left > 0);
    return test_end();
}
