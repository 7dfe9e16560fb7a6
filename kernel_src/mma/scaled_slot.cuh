/* SPDX-License-Identifier: MIT */
/* A slot of the ring for block-scaled products: 256 k of both operands and
 * their scales, the copies that fill it, and the products that read it. One
 * operand's rows are the lanes of tensor memory, the other's its columns.
 *
 * With `ctas` 2 each block of a pair has such a slot, for products of 256
 * lanes: it brings its own lanes with their scales, half of the columns, and
 * the scales of all of them. */
#pragma once
#include <base/types.cuh>
#include <mma/tcgen05_tile.cuh>
#include <ptx/mbarrier.cuh>
#include <ptx/memory.cuh>
#include <ptx/sync.cuh>
#include <ptx/tcgen05.cuh>
#include <ptx/tma.cuh>

namespace mma {

constexpr int slot_k = 256;
constexpr int slot_products = slot_k / product_k;
constexpr int slot_lanes = 128; /* of a block */

/* What a tile takes of an operand: its rows from `first` on. */
struct operand_part {
    const u8 *map;
    const u8 *scales, *scale_map; /* of which pairs use the map */
    int first, rows;              /* of `rows` in all */
};

/* Where the products of a slot are in tensor memory. */
struct product_place {
    u32 accumulator, scales;
    int skipped; /* columns of the first scale atom before the tile's */
};

template <int columns, int ctas> struct scaled_slot {
    using scale_atoms = u8[slot_products][scale_atom_bytes]; /* of 128 rows */

    static constexpr int column_atoms = ceil_div(columns, scale_atom_rows);
    static constexpr int scale_columns = /* of tensor memory */
        (1 + column_atoms) * slot_products * scale_atom_columns;

    /* 1024-byte aligned: the atoms of the swizzle are */
    u8 lane_values[slot_lanes * operand_row_bytes];
    u8 column_values[columns / ctas * operand_row_bytes];
    scale_atoms lane_scales[1];
    scale_atoms column_scales[column_atoms];

    /* Rows past the last have no scales, and need none; some are copied, to
     * copy equally many. */
    template <int count>
    __device__ static void load_scales(scale_atoms (&to)[count],
                                       const operand_part &part, int stage,
                                       int k_atoms, u32 bytes,
                                       ptx::mbarrier *full)
    {
#pragma unroll
        for (int i = 0; i < count; i++) {
            int atom = min(part.first / scale_atom_rows + i,
                           (part.rows - 1) / scale_atom_rows);
            ptx::cp_async_bulk(
                to[i],
                part.scales + (size_t(atom) * k_atoms + stage * slot_products) *
                                  scale_atom_bytes,
                bytes, full);
        }
    }

    __device__ void load(const operand_part &lane, const operand_part &column,
                         int k, int stage, ptx::mbarrier *full)
    {
        int k_atoms = ceil_div(k, product_k);
        int x = stage * operand_row_bytes;
        u32 bytes = min(slot_products, k_atoms - stage * slot_products) *
                    scale_atom_bytes;

        ptx::mbarrier_arrive_expect_tx(full, sizeof lane_values +
                                                 sizeof column_values +
                                                 (1 + column_atoms) * bytes);
        ptx::cp_async_bulk_tensor_2d(lane_values, lane.map, x, lane.first,
                                     full);
        ptx::cp_async_bulk_tensor_2d(column_values, column.map, x,
                                     column.first, full);
        load_scales(lane_scales, lane, stage, k_atoms, bytes, full);
        load_scales(column_scales, column, stage, k_atoms, bytes, full);
    }

    /* By block `rank` of a pair, counted in block 0. Scales are rows of 128
     * operand rows each, elements of eight bytes, to their maps: only copies
     * with a map can be counted in the other block. */
    __device__ void load_pair(const operand_part &lane,
                              const operand_part &column, int width, int stage,
                              int rank, ptx::mbarrier *full)
    {
        int x = stage * operand_row_bytes;
        int scales_x = stage * int(sizeof(scale_atoms)) / 8;

        if (rank == 0)
            ptx::mbarrier_arrive_expect_tx(full, ctas * sizeof *this);
        ptx::cp_async_bulk_tensor_2d_pair(lane_values, lane.map, x, lane.first,
                                          full);
        ptx::cp_async_bulk_tensor_2d_pair(column_values, column.map, x,
                                          column.first + rank * width / ctas,
                                          full);
        ptx::cp_async_bulk_tensor_2d_pair(lane_scales, lane.scale_map,
                                          scales_x,
                                          lane.first / scale_atom_rows, full);
#pragma unroll
        for (int i = 0; i < column_atoms; i++)
            ptx::cp_async_bulk_tensor_2d_pair(
                column_scales[i], column.scale_map, scales_x,
                column.first / scale_atom_rows + i, full);
    }

    /* The last 32 k of an odd number, in atom `last`: the other 32 of the
     * operands come as zeros, but their scales may be NaN. By a warp. */
    __device__ static void clear_half(u8 (&atom)[scale_atom_bytes])
    {
        uint4 &rows = reinterpret_cast<uint4 *>(atom)[threadIdx.x % 32];
        rows.x &= 0xffff;
        rows.y &= 0xffff;
        rows.z &= 0xffff;
        rows.w &= 0xffff;
    }

    __device__ void clear_tail(int last)
    {
        clear_half(lane_scales[0][last]);
        for (int i = 0; i < column_atoms; i++)
            clear_half(column_scales[i][last]);
        ptx::fence_proxy_async();
    }

    /* `count` products of 64 k each, by one thread; of a pair, by block 0. */
    __device__ void multiply(const product_place &to, u32 instruction,
                             int count, bool first) const
    {
        u64 a = operand_descriptor(ptx::shared_address(lane_values));
        u64 b = operand_descriptor(ptx::shared_address(column_values));
        u64 sfa = scale_descriptor(ptx::shared_address(lane_scales));
        u64 sfb = scale_descriptor(ptx::shared_address(column_scales));
        constexpr int wide = scale_atom_columns;

        for (int i = 0; i < count; i++) {
            u32 lane_scales_at = to.scales + i * wide;
            u32 column_scales_at =
                to.scales + (slot_products + i * column_atoms) * wide;
            u64 step = descriptor_step(i * product_bytes);

            ptx::tcgen05_cp_32x128b_warpx4<ctas>(
                lane_scales_at, sfa + descriptor_step(i * scale_atom_bytes));
#pragma unroll
            for (int j = 0; j < column_atoms; j++)
                ptx::tcgen05_cp_32x128b_warpx4<ctas>(
                    column_scales_at + j * wide,
                    sfb + descriptor_step((j * slot_products + i) *
                                          scale_atom_bytes));
            ptx::tcgen05_mma_mxf4nvf4<ctas>(
                to.accumulator, a + step, b + step, instruction,
                lane_scales_at, column_scales_at + to.skipped,
                !first || i > 0);
        }
    }
};

} // namespace mma
