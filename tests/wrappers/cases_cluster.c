/* SPDX-License-Identifier: MIT */
/* Clusters of 1 to 8 blocks, each of which copies to a mask of them. */
#include <stdio.h>
#include <string.h>

#include "both.h"
#include "cases.h"
#include "reference.h"

enum {
    BLOCKS = 64,
    MOST_RANKS = 8,
    SLOT = 4096, /* of shared memory, for what comes from one block */
    DATA = 64 << 10
};

struct input {
    struct cluster_record records[BLOCKS];
    _Alignas(256) uint8_t data[DATA];
};
static struct input input;
static struct emu_tensor_map maps[BLOCKS];
static uint64_t seed = 51;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)((ref_random(&seed) >> 32) * limit >> 32);
}

static void make_bulk(struct cluster_record *record)
{
    record->kind = COPY_BULK;
    record->bytes = 16 * (1 + below(SLOT / 16));
    record->source = (uint32_t)offsetof(struct input, data) +
                     16 * below((DATA - record->bytes) / 16 + 1);
}

/* A box of 128-byte rows of a tensor whose edges it may cross. */
static void make_tensor(struct cluster_record *record, uint32_t number)
{
    struct emu_tensor_map *map = &maps[number];

    memset(map, 0, sizeof *map);
    map->address = offsetof(struct input, data) + 16 * below(64);
    map->rank = 2;
    map->element_bytes = 2;
    map->swizzle = 128;
    map->extent[0] = 100;
    map->extent[1] = 90;
    map->stride[0] = 208;
    map->box[0] = 64;
    map->box[1] = 8 * (1 + below(SLOT / 1024));
    record->kind = COPY_TENSOR;
    record->bytes = map->box[1] * 128;
    record->source = number;
    record->x = 8 * (int)below(16) - 32;
    record->y = (int)below(100) - 10;
}

static void make_cluster(struct cluster_record *records, uint32_t ranks,
                         uint32_t first)
{
    for (uint32_t i = 0; i < ranks; i++) {
        struct cluster_record *record = &records[i];

        if (below(2))
            make_bulk(record);
        else
            make_tensor(record, first + i);
        record->blocks = 1 + below((1u << ranks) - 1);
        record->destination = i * SLOT;
        for (uint32_t j = 0; j < ranks; j++)
            if (record->blocks >> j & 1)
                records[j].expected += record->bytes;
    }
}

void cases_cluster(bool small)
{
    char name[100];

    for (size_t i = 0; i < DATA; i++)
        input.data[i] = (uint8_t)ref_random(&seed);
    for (uint32_t ranks = 1; ranks <= MOST_RANKS; ranks *= 2) {
        struct both_case c = {
            .name = name,
            .program = "cluster",
            .blocks = small ? 2 * ranks : BLOCKS,
            .cluster = ranks,
            .threads = CLUSTER_THREADS,
            .shared_bytes = 1024 + ranks * SLOT + 16,
            .in = &input,
            .in_bytes = sizeof input,
            .maps = maps,
            .maps_count = BLOCKS,
            .count = (int)(ranks * SLOT),
        };

        memset(input.records, 0, sizeof input.records);
        for (uint32_t i = 0; i < BLOCKS; i++) /* each is a valid one */
            make_tensor(&input.records[i], i);
        memset(input.records, 0, sizeof input.records);
        for (uint32_t i = 0; i < c.blocks; i += ranks)
            make_cluster(&input.records[i], ranks, i);
        c.out_bytes = c.blocks * ((size_t)c.count + 4 * CLUSTER_THREADS);
        snprintf(name, sizeof name,
                 "cluster_*, mapa, mbarrier_arrive_cluster, *_multicast, "
                 "clusters of %u",
                 ranks);
        both_compare(&c);
    }
}
