/* SPDX-License-Identifier: MIT */
/* Copies to shared memory: contiguous ones of many sizes, and boxes of many
 * tensors with every swizzle, inside of them, over each edge, and outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "cases.h"
#include "reference.h"

enum {
    BLOCKS = 64,
    SLOT = 24 << 10, /* of shared memory, a copy */
    DATA = 512 << 10,
    PLACES = 5 /* of a box along a side of the tensor */
};

struct input {
    struct copy_record records[BLOCKS][COPIES];
    _Alignas(256) uint8_t data[DATA];
};
static struct input input;
static struct emu_tensor_map maps[BLOCKS * COPIES];
static uint64_t seed = 31;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)((ref_random(&seed) >> 32) * limit >> 32);
}

static void compare(const char *name, int blocks, size_t maps_count)
{
    struct both_case c = {
        .name = name,
        .program = "copies",
        .blocks = (unsigned)blocks,
        .threads = 128,
        .shared_bytes = 1024 + COPIES * SLOT + 8,
        .in = &input,
        .in_bytes = sizeof input,
        .out_bytes = (size_t)blocks * COPIES * SLOT,
        .maps = maps,
        .maps_count = maps_count,
        .count = COPIES * SLOT,
    };

    both_compare(&c);
}

/* 16 bytes at least: no kernel copies nothing. */
static void make_bulk(struct copy_record *record, int slot)
{
    record->kind = COPY_BULK;
    record->bytes = 16 * (1 + below(below(2) ? 8 : SLOT / 16 - 8));
    record->destination =
        (uint32_t)slot * SLOT + 16 * below((SLOT - record->bytes) / 16 + 1);
    record->source = (uint32_t)offsetof(struct input, data) +
                     16 * below((DATA - record->bytes) / 16 + 1);
}

/* Rows of the box are as wide as the swizzle, if there is one. */
static void make_map(struct emu_tensor_map *map, uint32_t element,
                     uint32_t swizzle, uint32_t rank)
{
    uint32_t row = swizzle ? swizzle : 16 * (1 + below(16));
    uint32_t most = 22 * 1024 / row, width = 1 + below(320 / element);

    if (row / element > 256)
        row = 256 * element;
    memset(map, 0, sizeof *map);
    map->rank = rank;
    map->element_bytes = element;
    map->swizzle = swizzle;
    map->extent[0] = width;
    map->extent[1] = 1 + below(300);
    map->stride[0] = (width * element + 15) / 16 * 16 + 16 * below(4);
    map->box[0] = row / element;
    map->box[1] = 1 + below(most < 256 ? most : 256);
    map->address = offsetof(struct input, data) +
                   16 * below((DATA - (uint32_t)(map->stride[0] * 300)) / 16);
    if (rank < 3)
        return;
    /* Of several matrices, a box is of one. */
    map->extent[2] = 1 + below(4);
    map->extent[1] = 1 + below(70);
    map->stride[1] = map->stride[0] * (map->extent[1] + below(5));
    map->box[2] = 1;
}

/* Before the tensor, over its beginning, inside, over its end, behind it; as
 * far as the sizes allow that. */
static int coordinate(int place, uint32_t extent, uint32_t box)
{
    switch (place) {
    case 0:
        return -(int)box - (int)below(1000);
    case 1:
        return -(int)(box > 1 ? 1 + below(box - 1) : 1);
    case 2:
        return (int)below(extent > box ? extent - box + 1 : 1);
    case 3:
        return (int)extent - 1 - (int)below(extent < box ? extent : box);
    default:
        return (int)extent + (int)below(100000);
    }
}

static void make_tensor(struct copy_record *record, int slot, uint32_t number,
                        int place)
{
    const struct emu_tensor_map *map = &maps[number];

    record->kind = map->rank == 3 ? COPY_TENSOR_3D : COPY_TENSOR;
    record->bytes = map->box[0] * map->box[1] * map->element_bytes;
    record->destination = (uint32_t)slot * SLOT + 128 * below(8);
    record->source = number;
    record->x =
        coordinate(place % PLACES, (uint32_t)map->extent[0], map->box[0]);
    record->x -= record->x & (int)(16 / map->element_bytes - 1);
    record->y = coordinate(place / PLACES % PLACES, (uint32_t)map->extent[1],
                           map->box[1]);
    if (map->rank == 3)
        record->z = (int)below((uint32_t)map->extent[2] + 2) - 1;
}

/* Two boxes and a contiguous copy a block, all places of a box. */
static void tensors(uint32_t element, uint32_t swizzle, uint32_t rank)
{
    enum { USED = PLACES * PLACES };
    char name[100];

    memset(input.records, 0, sizeof input.records);
    for (int i = 0; i < USED; i++) {
        for (int j = 0; j < 2; j++) {
            uint32_t number = (uint32_t)(2 * i + j);

            make_map(&maps[number], element, swizzle, rank);
            make_tensor(&input.records[i][2 * j], 2 * j, number,
                        i + j * (PLACES + 2));
        }
        make_bulk(&input.records[i][1], 1);
    }
    snprintf(name, sizeof name,
             "cp_async_bulk_tensor_%ud, swizzle %u, elements of %u", rank,
             swizzle, element);
    compare(name, USED, 2 * USED);
}

void cases_copies(bool small)
{
    static const uint32_t swizzles[] = {0, 32, 64, 128};

    for (size_t i = 0; i < DATA; i++)
        input.data[i] = (uint8_t)ref_random(&seed);
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < COPIES; j++)
            make_bulk(&input.records[i][j], j);
    compare("cp_async_bulk", small ? 4 : BLOCKS, 0);
    for (uint32_t rank = 2; rank <= 3; rank++)
        for (int i = 0; i < 4; i++)
            for (uint32_t element = 1; element <= (small ? 1 : 8);
                 element *= 2)
                tensors(element, swizzles[i], rank);
}
