/* SPDX-License-Identifier: MIT */
/* Descriptors and layouts of block-scaled products against values printed by
 * CuTe: what the kernels' builders make and what the emulator reads in it. */
#include <emu.h>

#include <base/types.cuh>
#include <mma/tcgen05_tile.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>

#include "swizzle.h"
#include "tcgen05_descriptor.h"
#include "tensor_memory.h"
#include "unit.h"

extern "C" {
#include "reference.h"
}

using namespace emu_test;

namespace {

/* All fields of an instruction descriptor that CuTe printed. */
void check_instruction(u32 word, u32 m, u32 n, u32 ue8m0, u32 a_id, u32 b_id,
                       u32 k96)
{
    emu::tcgen05_instruction i = emu::tcgen05_split_instruction(word);

    CHECK_INT(i.m, m);
    CHECK_INT(i.n, n);
    CHECK_INT(i.ue8m0, ue8m0);
    CHECK_INT(i.a_scale_id, a_id);
    CHECK_INT(i.b_scale_id, b_id);
    CHECK_INT(i.k96, k96);
    CHECK_INT(i.a_format, 1);
    CHECK_INT(i.b_format, 1);
    CHECK_INT(i.a_negate | i.b_negate | i.a_major | i.b_major | i.unused, 0);
}

void test_instructions()
{
    CHECK_INT(mma::product_instruction(128, 128), 0x08200480);
    CHECK_INT(mma::product_instruction(128, 64), 0x08100480);
    CHECK_INT(mma::product_instruction(128, 256), 0x08400480);
    CHECK_INT(mma::product_instruction(256, 128), 0x10200480);
    CHECK_INT(mma::product_instruction(256, 256), 0x10400480);
    for (int n = 8; n <= 256; n += 8)
        CHECK_INT(mma::product_instruction(128, n),
                  0x480 + (n >> 3 << 17) + (128 >> 4 << 24));
    check_instruction(0x08200480, 128, 128, 0, 0, 0, 0);
    check_instruction(0x08100480, 128, 64, 0, 0, 0, 0);
    check_instruction(0x08400480, 128, 256, 0, 0, 0, 0);
    check_instruction(0x10200480, 256, 128, 0, 0, 0, 0);
    check_instruction(0x10400480, 256, 256, 0, 0, 0, 0);
    check_instruction(0x08a00480, 128, 128, 1, 0, 0, 0);
    check_instruction(0x28200480, 128, 128, 0, 1, 0, 0);
    check_instruction(0x08200490, 128, 128, 0, 0, 1, 0);
    check_instruction(0x88200480, 128, 128, 0, 0, 0, 1);
    CHECK_INT(emu::tcgen05_split_instruction(0x0820a480).a_negate, 1);
    CHECK_INT(emu::tcgen05_split_instruction(0x0820a480).a_major, 1);
    CHECK_INT(emu::tcgen05_split_instruction(0x08214480).b_negate, 1);
    CHECK_INT(emu::tcgen05_split_instruction(0x08214480).b_major, 1);
    CHECK_INT(emu::tcgen05_split_instruction(0x08200484).unused, 4);
}

void check_matrix(u64 word, u32 start, u32 leading, u32 stride, u32 layout)
{
    emu::tcgen05_matrix matrix = emu::tcgen05_split_matrix(word);

    CHECK_INT(matrix.start, start);
    CHECK_INT(matrix.leading, leading);
    CHECK_INT(matrix.stride, stride);
    CHECK_INT(matrix.layout, layout);
    CHECK_INT(matrix.version, 1);
    CHECK_INT(matrix.base_offset | matrix.absolute_leading, 0);
    CHECK_INT(matrix.unused, 0);
}

void test_matrices()
{
    CHECK_INT(mma::operand_descriptor(0), 0x4000404000010000);
    CHECK_INT(mma::operand_descriptor(0x12400), 0x4000404000011240);
    CHECK_INT(mma::scale_descriptor(0), 0x0000400800000000);
    CHECK_INT(mma::scale_descriptor(0x12400), 0x0000400800001240);
    check_matrix(0x4000404000010000, 0, 16, 1024, 2);
    check_matrix(0x4000404000001240, 0x12400, 0, 1024, 2);
    check_matrix(0x0000400800000000, 0, 0, 128, 0);
    check_matrix(0x0000400800011240, 0x12400, 16, 128, 0);
    CHECK_INT(emu::tcgen05_split_matrix(0x0010000000000000).absolute_leading,
              1);
    CHECK_INT(emu::tcgen05_split_matrix(0x000e000000000000).base_offset, 7);
    CHECK_INT(emu::tcgen05_split_matrix(0x0000c00000000000).version, 3);
    /* A product on, a stage of 128 rows on, an atom of scales on. */
    CHECK_INT(mma::descriptor_step(mma::product_bytes), 2);
    CHECK_INT(mma::descriptor_step(128 * mma::operand_row_bytes), 1024);
    CHECK_INT(mma::descriptor_step(mma::scale_atom_bytes), 32);
}

struct row_k_byte {
    int row, k;
    u32 byte;
};
const row_k_byte swizzled[] = {{1, 0, 144},      {1, 32, 128}, {2, 0, 288},
                               {2, 64, 256},     {7, 0, 1008}, {127, 0, 16368},
                               {127, 224, 16256}};

void test_swizzle()
{
    for (const row_k_byte &at : swizzled) {
        CHECK_INT(mma::operand_offset(at.row, at.k / 2), at.byte);
        CHECK_INT(emu::swizzle(u32(at.row * 128 + at.k / 2), 128), at.byte);
    }
    for (int k = 0; k < 4; k++)
        CHECK_INT(mma::operand_offset(0, k * mma::product_bytes), 32 * k);
}

/* CuTe's layout of 256 rows of 512 k:
 * (((32,4),2),((16,4),8)) : (((16,4),4096),((0,1),512)). */
void test_scales()
{
    for (int row = 0; row < 256; row++)
        for (int k = 0; k < 512; k++) {
            int byte = row % 32 * 16 + row / 32 % 4 * 4 + row / 128 * 4096 +
                       k / 16 % 4 + k / 64 * 512;

            CHECK_INT(mma::scale_offset(row, k / 16, 8), byte);
            CHECK_INT(ref_scale_offset(row, k / 16, 512), byte);
        }
}

u8 *aligned_smem()
{
    u8 *memory = ptx::dynamic_smem();

    return memory + (-ptx::shared_address(memory) & 1023);
}

/* Where the emulator finds the rows of the builders' descriptors. */
void find_units()
{
    u32 base = ptx::shared_address(aligned_smem());

    for (int step = 0; step < 4; step++) {
        u64 descriptor = mma::operand_descriptor(base) +
                         mma::descriptor_step(step * mma::product_bytes);
        std::vector<uint32_t> units =
            emu::tcgen05_operand_units(0, descriptor, 128, "a test");

        CHECK_INT(units.size(), 256);
        for (int i = 0; i < 256; i++)
            CHECK_INT(units[size_t(i)] - base,
                      mma::operand_offset(i / 2, 32 * step + 16 * (i % 2)));
    }
    std::vector<uint32_t> rows =
        emu::tcgen05_copy_units(0, mma::scale_descriptor(base + 512));
    CHECK_INT(rows.size(), 32);
    for (u32 i = 0; i < 32; i++)
        CHECK_INT(rows[i] - base, 512 + 16 * i);
}

/* Four atoms to tensor memory, whose layout for 128 rows of 256 k CuTe prints
 * as ((((32,4),4),(16,4)),1,(1,4)) : ((((262144,4),8388608),(0,1)),0,(0,16)):
 * bytes, 262144 a lane. */
void copy_scales()
{
    u8 *memory = aligned_smem();
    auto *barrier = reinterpret_cast<ptx::mbarrier *>(memory + 2048);
    u32 *slot = reinterpret_cast<u32 *>(memory + 2056);

    for (u32 i = threadIdx.x; i < 512; i += 32)
        memcpy(memory + 4 * i, &i, 4);
    ptx::tcgen05_alloc(slot, 32);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(barrier, 1);
        ptx::fence_mbarrier_init();
    }
    ptx::fence_proxy_async();
    __syncwarp();
    if (ptx::elect_one()) {
        for (int i = 0; i < 4; i++)
            ptx::tcgen05_cp_32x128b_warpx4(
                mma::tensor_address(*slot, 0, 4 * i),
                mma::scale_descriptor(ptx::shared_address(memory)) +
                    u64(32 * i));
        ptx::tcgen05_commit(barrier);
    }
    while (!ptx::mbarrier_try_wait(barrier, 0))
        continue;
    ptx::tcgen05_fence_after_thread_sync();
    for (u32 row = threadIdx.x; row < 128; row += 32)
        for (u32 block = 0; block < 16; block++)
            for (u32 copy = 0; copy < 4; copy++) {
                u32 byte = row % 32 * 262144 + row / 32 * 4 + copy * 8388608 +
                           block % 4 + block / 4 * 16;
                u32 word = emu::tensor_at(*slot +
                                          byte % 262144 / 4)[0][byte / 262144];

                CHECK_INT(u8(word >> 8 * (byte % 4)),
                          memory[mma::scale_offset(int(row), int(block), 4)]);
            }
    ptx::tcgen05_dealloc(*slot, 32);
}

} // namespace

int main()
{
    test_instructions();
    test_matrices();
    test_swizzle();
    test_scales();
    CHECK_STR(run_once(find_units, 1, 1, 32768).c_str(), "");
    check_report(copy_scales, 32, "");
    return test_end();
}
