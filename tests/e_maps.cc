/* SPDX-License-Identifier: MIT */
/* Tensor maps edited on the device: what copies read, who waits, releases and
 * acquires. */
#include <emu.h>

#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tensormap.cuh>
#include <ptx/tma.cuh>

#include "tensor_map.h"
#include "unit.h"

using namespace emu_test;

namespace {

constexpr int rows = 8, row_bytes = 64, box_bytes = rows * row_bytes;

alignas(64) u8 maps[2][128];
alignas(16) u8 tensors[2][rows * 256];
u8 landed[box_bytes];
int variant;

struct smem {
    u8 box[2][box_bytes];
    ptx::mbarrier barriers[2];
};

smem &shared()
{
    u8 *memory = ptx::dynamic_smem();

    memory += -ptx::shared_address(memory) & 127;
    return *reinterpret_cast<smem *>(memory);
}

void reset_maps()
{
    emu_tensor_map t{};

    t.address = reinterpret_cast<uintptr_t>(tensors[0]);
    t.rank = 2;
    t.extent[0] = t.box[0] = row_bytes;
    t.extent[1] = t.box[1] = rows;
    t.stride[0] = 256;
    t.element_bytes = 1;
    for (u8 *map : maps)
        emu_tensor_map_encode(&t, map);
}

void check(void (*kernel)(), unsigned threads, int which, const char *name)
{
    variant = which;
    for (uint64_t seed = 0; seed < 20; seed++) {
        reset_maps();
        std::string report = run_once(kernel, threads, seed);
        std::string got = report.substr(0, report.find(':'));

        if (got != name)
            fprintf(stderr, "variant %d: %s\n", variant, report.c_str());
        CHECK_STR(got.c_str(), name);
    }
}

void begin()
{
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&shared().barriers[0], 1);
        ptx::mbarrier_init(&shared().barriers[1], 1);
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
}

void copy(int i)
{
    ptx::mbarrier_arrive_expect_tx(&shared().barriers[i], box_bytes);
    ptx::cp_async_bulk_tensor_2d(shared().box[i], maps[i], 0, 0,
                                 &shared().barriers[i]);
}

void wait(int i)
{
    while (!ptx::mbarrier_try_wait(&shared().barriers[i], 0))
        continue;
}

/* The other tensor: 5 rows of 48 bytes, 128 bytes apart. */
void edit(int i)
{
    ptx::tensormap_replace_global_address(maps[i], tensors[1]);
    ptx::tensormap_replace_global_dim<0>(maps[i], 48);
    ptx::tensormap_replace_global_dim<1>(maps[i], 5);
    ptx::tensormap_replace_global_stride<0>(maps[i], 128);
}

void edit_and_copy()
{
    begin();
    edit(0);
    ptx::fence_proxy_tensormap_release();
    ptx::fence_proxy_tensormap_acquire(maps[0]);
    ptx::prefetch_tensormap(maps[0]);
    copy(0);
    wait(0);
    memcpy(landed, shared().box[0], sizeof landed);
}

/* Thread 0 edits, thread 32 copies: each number leaves one step out. */
void edit_for_another()
{
    begin();
    if (threadIdx.x == 32 && variant == 3)
        ptx::fence_proxy_tensormap_acquire(maps[0]);
    if (variant == 3)
        __syncthreads();
    if (threadIdx.x == 0) {
        edit(0);
        if (variant != 1)
            ptx::fence_proxy_tensormap_release();
        if (variant == 4)
            ptx::tensormap_replace_global_dim<1>(maps[0], 4);
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        if (variant != 2 && variant != 3)
            ptx::fence_proxy_tensormap_acquire(maps[0]);
        if (variant == 5)
            maps[0][16] ^= 1;
        copy(0);
        wait(0);
    }
}

/* Thread 0 copies and edits, with what tells that the copy is done; variants
 * of odd numbers lack it. */
void edit_after_own_copy()
{
    begin();
    ptx::fence_proxy_tensormap_acquire(maps[0]);
    ptx::fence_proxy_tensormap_acquire(maps[1]);
    copy(0);
    if (variant != 1)
        ptx::cp_async_bulk_commit_group();
    if (variant == 2) {
        copy(1);
        ptx::cp_async_bulk_commit_group();
    }
    if (variant < 2)
        ptx::cp_async_bulk_wait_group_read<0>();
    else if (variant < 4)
        ptx::cp_async_bulk_wait_group_read<1>();
    else if (variant == 4)
        wait(0);
    edit(0);
    wait(0);
    if (variant == 2)
        wait(1);
}

/* Thread 32 copies; thread 0 edits, having waited for it or not. */
void edit_after_anothers_copy()
{
    begin();
    if (threadIdx.x == 32) {
        ptx::fence_proxy_tensormap_acquire(maps[0]);
        copy(0);
        if (variant == 1) {
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read<0>();
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        if (variant == 2)
            wait(0);
        edit(0);
    }
    wait(0);
}

void use_wrongly()
{
    switch (variant) {
    case 0:
        ptx::tensormap_replace_global_address(maps[0], tensors[0] + 8);
        break;
    case 1:
        ptx::tensormap_replace_global_stride<0>(maps[0], 100);
        break;
    case 2:
        ptx::tensormap_replace_global_dim<0>(maps[0], 0);
        break;
    case 3:
        ptx::tensormap_replace_global_dim<2>(maps[0], 1);
        break;
    case 4:
        ptx::tensormap_replace_global_stride<1>(maps[0], 16);
        break;
    case 5:
        ptx::tensormap_replace_global_dim<0>(maps[0] + 16, 1);
        break;
    case 6:
        ptx::prefetch_tensormap(maps[0]);
        break;
    default:
        maps[0][3] ^= 1;
        ptx::tensormap_replace_global_dim<0>(maps[0], 1);
    }
}

void test_contents()
{
    for (size_t i = 0; i < sizeof tensors[1]; i++)
        tensors[1][i] = u8(1 + i % 255);
    memset(landed, 0xff, sizeof landed);
    check(edit_and_copy, 1, 0, "");
    for (int i = 0; i < box_bytes; i++) {
        int row = i / row_bytes, byte = i % row_bytes;

        CHECK_INT(landed[i],
                  row < 5 && byte < 48 ? tensors[1][row * 128 + byte] : 0);
    }
}

} // namespace

int main()
{
    test_contents();
    check(edit_for_another, 64, 0, "");
    for (int without = 1; without <= 5; without++)
        check(edit_for_another, 64, without, "tensormap-no-fence");
    for (int i = 0; i < 6; i++)
        check(edit_after_own_copy, 1, i, i % 2 ? "tensormap-in-use" : "");
    check(edit_after_anothers_copy, 64, 0, "tensormap-in-use");
    check(edit_after_anothers_copy, 64, 1, "");
    check(edit_after_anothers_copy, 64, 2, "");
    for (int i = 0; i < 3; i++)
        check(use_wrongly, 1, i, "bad-tensor-map");
    check(use_wrongly, 1, 3, "bad-operand");
    check(use_wrongly, 1, 4, "bad-operand");
    check(use_wrongly, 1, 5, "misaligned");
    check(use_wrongly, 1, 6, "tensormap-no-fence");
    check(use_wrongly, 1, 7, "bad-tensor-map");
    return test_end();
}
