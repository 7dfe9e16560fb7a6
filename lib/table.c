/* SPDX-License-Identifier: MIT */
/* The image: groups, both prefix sums, tensor maps. */
#include "table.h"

#include <assert.h>
#include <stdlib.h>

#define WORKSPACE_ALIGN 1024 /* a swizzle atom */
#define ATOM_BYTES 1024      /* 8 tokens x 64 k, f16 */
#define ATOM_ROWS 8
#define MOST (1 << 30)       /* tiles, units: a sum with a grid fits an int */

static_assert(sizeof(struct jg_group) % 64 == 0, "tensor maps are aligned");

int jg_table_blocks(const struct jg_config *config,
                    const struct jg_device *device, int tiles)
{
    int resident = device->sms / config->ctas;

    if (config->family == JG_SM90)
        resident *= config->blocks;
    return config->ctas * (tiles < resident ? tiles : resident);
}

size_t jg_table_group_maps(const struct jg_config *config)
{
    return 2 * (size_t)config->ctas * JG_MAP_BYTES;
}

struct rank {
    double us; /* of a tile */
    int32_t group;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->us > y->us || x->us < y->us)
        return x->us > y->us ? -1 : 1;
    return x->group < y->group ? -1 : 1;
}

jitgemm_status jg_table_order(const struct jg_config *config,
                              const struct jg_problem *problem,
                              int32_t *order)
{
    const struct jg_model *model = jg_model_of(config->family);
    size_t groups = (size_t)problem->groups;
    struct rank *ranks = malloc(groups * sizeof *ranks);

    if (!ranks)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for a table of %zu groups",
                       groups);
    for (size_t g = 0; g < groups; g++)
        ranks[g] = (struct rank){model->tile_us(config, problem->sizes[g]),
                                 (int32_t)g};
    qsort(ranks, groups, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < groups; i++)
        order[i] = ranks[i].group;
    free(ranks);
    return JITGEMM_OK;
}

static size_t align(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Tiles and units of all groups. */
struct counts {
    int64_t tiles, units;
};

static jitgemm_status fail_much(int32_t group, int32_t groups,
                                struct counts counts)
{
    return jg_fail_argument(
        JITGEMM_E_SHAPE, "problem.groups", group, groups, 0,
        "problem.groups up to %d need %lld tiles and %lld KiB of workspace; "
        "both must be below 2^30",
        (int)group, (long long)counts.tiles, (long long)counts.units);
}

static jitgemm_status add_up(const struct jg_config *config,
                             const struct jg_problem *problem,
                             const int32_t *order, struct counts *counts)
{
    for (int32_t i = 0; i < problem->groups; i++) {
        struct jg_size size = problem->sizes[order[i]];

        counts->tiles += jg_cut_tiles(config, size);
        counts->units += jg_cut_units(config, size);
        if (counts->tiles > MOST || counts->units > MOST)
            return fail_much(order[i], problem->groups, *counts);
    }
    return JITGEMM_OK;
}

int64_t jg_table_most_atoms(const struct jg_problem *problem)
{
    int64_t groups = problem->groups, rows = problem->max_rows;
    int64_t used = rows < groups ? rows : groups; /* of groups, at most */

    return problem->layout == JG_MASKED
               ? groups * jg_cut_ceil_div(rows, ATOM_ROWS)
               : (rows + (ATOM_ROWS - 1) * used) / ATOM_ROWS;
}

/* However the rows are shared out. */
static jitgemm_status add_up_most(const struct jg_config *config,
                                  const struct jg_problem *problem,
                                  struct counts *counts)
{
    struct jg_size size = problem->sizes[0];
    struct jg_tiling tiling = jg_cut_tiling(config, size.n, size.k);
    int64_t atoms = jg_table_most_atoms(problem);
    int64_t full = atoms * ATOM_ROWS / tiling.tile_m; /* tiles of tokens */
    int64_t part = atoms < problem->groups ? atoms : problem->groups;

    *counts = (struct counts){full + part, atoms};
    if (atoms <= MOST)
        *counts = (struct counts){(full + part) * tiling.across,
                                  atoms * tiling.units};
    if (counts->tiles > MOST || counts->units > MOST)
        return fail_much(problem->groups - 1, problem->groups, *counts);
    return JITGEMM_OK;
}

jitgemm_status jg_table_measure(const struct jg_config *config,
                                const struct jg_device *device,
                                const struct jg_problem *problem,
                                const int32_t *order, struct jg_table *table,
                                struct jg_layout *layout)
{
    size_t groups = (size_t)problem->groups, maps = 0, work;
    struct counts counts = {0, 0};
    jitgemm_status status = problem->on_device
                                ? add_up_most(config, problem, &counts)
                                : add_up(config, problem, order, &counts);
    int64_t tiles = counts.tiles, units = counts.units;

    if (status != JITGEMM_OK)
        return status;
    table->count = problem->groups;
    table->tiles = (int)tiles;
    table->units = (int)units;
    work = (size_t)units * ATOM_BYTES;
    if (config->family == JG_SM100)
        maps = jg_table_group_maps(config) * (config->edits_maps ? 1 : groups);
    if (config->edits_maps)
        work = jg_table_group_maps(config) *
               (size_t)jg_table_blocks(config, device, (int)tiles);
    if (config->own_table) {
        *layout = (struct jg_layout){.all = work};
        return JITGEMM_OK;
    }
    layout->first_tile = groups * sizeof(struct jg_group);
    layout->first_unit = layout->first_tile + (groups + 1) * sizeof(int);
    layout->maps = align(layout->first_unit + (groups + 1) * sizeof(int),
                         JG_MAP_BYTES);
    layout->image = layout->maps + maps;
    layout->workspace = align(layout->image, WORKSPACE_ALIGN);
    layout->all = layout->workspace + work;
    return JITGEMM_OK;
}

void jg_table_fill(const struct jg_config *config,
                   const struct jg_problem *problem, const int32_t *order,
                   const struct jg_layout *layout, unsigned char *image)
{
    struct jg_group *rows = (struct jg_group *)image;
    int *first_tile = (int *)(image + layout->first_tile);
    int *first_unit = (int *)(image + layout->first_unit);
    int tiles = 0, units = 0;

    for (int32_t i = 0; i < problem->groups; i++) {
        struct jg_size size = problem->sizes[order[i]];

        rows[i].m = size.m;
        rows[i].n = size.n;
        rows[i].k = size.k;
        rows[i].chunks = (int)jg_cut_chunks(config, size);
        rows[i].tile_rows = jg_cut_tile_rows(config, size);
        rows[i].row_a = jg_problem_row_a(problem, size.k);
        rows[i].row_c = jg_problem_row_c(problem, size.n);
        rows[i].activations = (unsigned long long)units * ATOM_BYTES;
        first_tile[i] = tiles;
        first_unit[i] = units;
        tiles += (int)jg_cut_tiles(config, size);
        units += (int)jg_cut_units(config, size);
    }
    first_tile[problem->groups] = tiles;
    first_unit[problem->groups] = units;
}

void jg_table_place(const struct jg_layout *layout, unsigned char *memory,
                    struct jg_table *table)
{
    table->groups = (struct jg_group *)memory;
    table->first_tile = (int *)(memory + layout->first_tile);
    table->first_unit = (int *)(memory + layout->first_unit);
    table->maps = memory + layout->maps;
    table->workspace = memory + layout->workspace;
}
