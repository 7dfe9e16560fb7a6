/* SPDX-License-Identifier: MIT */
/* Named barriers, matrix stores, register shares, warps and fences on the
 * emulator, and its reports. */
#include <emu.h>

#include <base/types.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/wgmma.cuh>

#include "shared.h"
#include "unit.h"

using namespace emu_test;

namespace {

u32 results[128];

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
    emu::syncwarp();
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
        emu::syncwarp();
    else
        ptx::wgmma_fence();
}

void lane_missing()
{
    if (threadIdx.x != 7)
        emu::syncwarp();
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
    ptx::wgmma_mma_async(
        d, a, u64(16) << 32 | u64(8) << 16 | ptx::shared_address(memory) >> 4);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
}

/* What a compiled kernel would say of its loads and stores. */
void store_byte(u32 i)
{
    emu::shared_access(ptx::dynamic_smem() + i, 1, true);
}

void load_word(u32 i)
{
    emu::shared_access(ptx::dynamic_smem() + 4 * i, 4, false);
}

void bytes_apart()
{
    store_byte(threadIdx.x);
    __syncthreads();
    load_word(threadIdx.x / 4);
    load_word(0);
    __syncthreads();
    store_byte(threadIdx.x ^ 1);
}

void write_write()
{
    store_byte(threadIdx.x / 2);
}

void write_read()
{
    store_byte(threadIdx.x);
    load_word(threadIdx.x / 4);
}

void read_write()
{
    load_word(threadIdx.x % 4);
    emu::syncwarp();
    if (threadIdx.x == 40)
        store_byte(3);
}

void read_past()
{
    load_word(1024);
}

} // namespace

int main()
{
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
    check_report(bytes_apart, 64, "");
    check_named(write_write, 64, "race");
    check_named(write_read, 64, "race");
    check_named(read_write, 64, "race");
    check_named(read_past, 1, "shared-out-of-bounds");
    check_report(fences<true>, 128, "");
    check_named(fences<false>, 128, "no-proxy-fence");
    check_report(fences<true>, 128, "");
    return test_end();
}
