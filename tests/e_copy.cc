/* SPDX-License-Identifier: MIT */
/* Copies on the emulator: where a tensor copy puts every byte, for each
 * swizzle and over the edges of the tensor. */
#include <emu.h>

#include <base/types.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tma.cuh>

#include "tensor_map.h"
#include "unit.h"

using namespace emu_test;

namespace {

alignas(64) u8 map[128];
alignas(16) u8 tensor[300 * 256];
u8 landed[128 * 128];
u32 box_bytes;
int at_x, at_y;

/* Copies a box and then `landed` out of shared memory. */
void copy_box()
{
    u8 *memory = ptx::dynamic_smem();
    memory += -ptx::shared_address(memory) & 1023;
    auto *barrier = reinterpret_cast<ptx::mbarrier *>(memory);

    ptx::mbarrier_init(barrier, 1);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_tensormap_acquire(map);
    ptx::mbarrier_arrive_expect_tx(barrier, box_bytes);
    ptx::cp_async_bulk_tensor_2d(memory + 1024, map, at_x, at_y, barrier);
    while (!ptx::mbarrier_try_wait(barrier, 0))
        continue;
    memcpy(landed, memory + 1024, box_bytes);
}

/* Copies `tensor` without a map. */
void copy_bulk()
{
    u8 *memory = ptx::dynamic_smem();
    auto *barrier = reinterpret_cast<ptx::mbarrier *>(memory);

    ptx::mbarrier_init(barrier, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier_arrive_expect_tx(barrier, box_bytes);
    ptx::cp_async_bulk(memory + 16, tensor + 32, box_bytes, barrier);
    while (!ptx::mbarrier_try_wait(barrier, 0))
        continue;
    memcpy(landed, memory + 16, box_bytes);
}

/* Tensors of 200 rows of 160 elements, 256 bytes from row to row. */
emu_tensor_map make_map(u32 width, u32 rows, u32 element_bytes, u32 swizzle)
{
    emu_tensor_map t{};

    t.address = reinterpret_cast<uintptr_t>(tensor);
    t.rank = 2;
    t.extent[0] = 160 / element_bytes;
    t.extent[1] = 200;
    t.stride[0] = 256;
    t.box[0] = width;
    t.box[1] = rows;
    t.element_bytes = element_bytes;
    t.swizzle = swizzle;
    return t;
}

/* Byte of (row, column) of a box. */
u32 place(u32 row, u32 column, u32 row_bytes, u32 swizzle)
{
    u32 linear = row * row_bytes + column;

    switch (swizzle) {
    case 128:
        return linear ^ (linear >> 7 & 7) << 4;
    case 64:
        return linear ^ (linear >> 7 & 3) << 4;
    case 32:
        return linear ^ (linear >> 7 & 1) << 4;
    default:
        return linear;
    }
}

void check_box(u32 row_bytes, u32 element_bytes, u32 swizzle, int x, int y)
{
    constexpr u32 rows = 96;
    emu_tensor_map t =
        make_map(row_bytes / element_bytes, rows, element_bytes, swizzle);
    long wrong = 0;

    CHECK(!emu_tensor_map_check(&t));
    emu_tensor_map_encode(&t, map);
    box_bytes = rows * row_bytes;
    at_x = x;
    at_y = y;
    std::string report =
        run_once(copy_box, 1, static_cast<uint64_t>(x + 1000 * y), 32768);
    CHECK_STR(report.c_str(), "");
    for (u32 row = 0; row < rows; row++)
        for (u32 column = 0; column < row_bytes; column++) {
            int byte = x * int(element_bytes) + int(column);
            int line = y + int(row);
            bool inside = byte >= 0 && byte < 160 && line >= 0 && line < 200;

            wrong += landed[place(row, column, row_bytes, swizzle)] !=
                     (inside ? tensor[line * 256 + byte] : 0);
        }
    CHECK_INT(wrong, 0);
}

void test_boxes()
{
    static const u32 swizzles[] = {0, 32, 64, 128};

    for (size_t i = 0; i < sizeof tensor; i++)
        tensor[i] = static_cast<u8>(1 + i * 37 % 251);
    for (u32 swizzle : swizzles)
        for (u32 bytes = swizzle ? swizzle : 16;
             bytes <= (swizzle ? swizzle : 128); bytes *= 2) {
            check_box(bytes, 1, swizzle, 0, 0);
            check_box(bytes, 1, swizzle, 96, 150);
            check_box(bytes, 1, swizzle, -16, -17);
            check_box(bytes, 2, swizzle, 56, 199);
            check_box(bytes, 4, swizzle, -4, -96);
        }
    for (int x : {100, -5, 8}) { /* not at whole 16 bytes */
        emu_tensor_map t = make_map(128, 96, 1, 128);

        emu_tensor_map_encode(&t, map);
        box_bytes = 96 * 128;
        at_x = x;
        check_named(copy_box, 1, "misaligned");
    }
}

/* The swizzle of 128 bytes, as rows and units say it. */
void test_place()
{
    for (u32 row = 0; row < 128; row++)
        for (u32 c = 0; c < 128; c++)
            CHECK_INT(place(row, c, 128, 128),
                      row * 128 + ((c >> 4 ^ (row & 7)) << 4) + (c & 15));
    CHECK_INT(place(1, 0, 128, 128), 144);
    CHECK_INT(place(1, 16, 128, 128), 128);
    CHECK_INT(place(2, 0, 128, 128), 288);
    CHECK_INT(place(2, 32, 128, 128), 256);
}

void test_bulk()
{
    box_bytes = 2048;
    check_report(copy_bulk, 1, "");
    CHECK(!memcmp(landed, tensor + 32, box_bytes));
    box_bytes = 0;
    check_report(copy_bulk, 1, "");
    box_bytes = 8;
    check_named(copy_bulk, 1, "misaligned");
    box_bytes = 16384;
    check_named(copy_bulk, 1, "shared-out-of-bounds");
}

void test_maps()
{
    emu_tensor_map t = make_map(128, 64, 1, 128), back;

    emu_tensor_map_encode(&t, map);
    CHECK(!emu_tensor_map_decode(map, &back));
    CHECK(!memcmp(&t, &back, sizeof t));
    map[0] ^= 1;
    CHECK(emu_tensor_map_decode(map, &back));
    t.box[0] = 256;
    CHECK(emu_tensor_map_check(&t)); /* wider than the swizzle */
    t.box[0] = 64;
    CHECK(emu_tensor_map_check(&t)); /* narrower */
    t.box[0] = 256;
    t.swizzle = 0;
    CHECK(!emu_tensor_map_check(&t));
    t.box[1] = 257;
    CHECK(emu_tensor_map_check(&t));
    t = make_map(24, 64, 1, 0);
    CHECK(emu_tensor_map_check(&t)); /* 24 bytes */
    t = make_map(16, 64, 1, 0);
    t.stride[0] = 200;
    CHECK(emu_tensor_map_check(&t));
    t.stride[0] = 208;
    t.address += 8;
    CHECK(emu_tensor_map_check(&t));
}

} // namespace

int main()
{
    test_place();
    test_boxes();
    test_bulk();
    test_maps();
    return test_end();
}
