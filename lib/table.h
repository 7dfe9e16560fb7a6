/* SPDX-License-Identifier: MIT */
/* The table of groups that kernels read (base/group.h), as the image of it
 * that is uploaded, and the memory behind it. Pure. */
#ifndef JG_TABLE_H
#define JG_TABLE_H

#include "plan.h"

#define JG_MAP_BYTES 128 /* a CUtensorMap, aligned as much */

struct jg_layout { /* bytes from the begin of the plan's memory */
    size_t first_tile, first_unit;
    size_t maps;      /* JG_SM100: of each group or, if kernels edit their own,
                         to begin with */
    size_t image;     /* end of what is uploaded */
    size_t workspace; /* 1024-byte aligned */
    size_t all;
};

/* Bytes of the maps of a group on JG_SM100: activations, weights and, for
 * pairs of CTAs, the scales of both. */
size_t jg_table_group_maps(const struct jg_config *config);

/* Blocks of the product. */
int jg_table_blocks(const struct jg_config *config,
                    const struct jg_device *device, int tiles);

/* Writes the groups in the order of their rows: longest tiles first, so that
 * the short ones fill what is left. E_MEMORY. */
jitgemm_status jg_table_order(const struct jg_config *config,
                              const struct jg_problem *problem,
                              int32_t *order);

/* Where all is, and the counts of *table, or how many there may be if the
 * sizes are on the device, where order may be NULL. E_SHAPE if it is too much.
 */
jitgemm_status jg_table_measure(const struct jg_config *config,
                                const struct jg_device *device,
                                const struct jg_problem *problem,
                                const int32_t *order, struct jg_table *table,
                                struct jg_layout *layout);

/* Atoms of 8 tokens that all groups may have, if the sizes are on the device.
 */
int64_t jg_table_most_atoms(const struct jg_problem *problem);

/* Writes the sizes into an image of zeros. */
void jg_table_fill(const struct jg_config *config,
                   const struct jg_problem *problem, const int32_t *order,
                   const struct jg_layout *layout, unsigned char *image);

/* Completes *table for memory at that address. */
void jg_table_place(const struct jg_layout *layout, unsigned char *memory,
                    struct jg_table *table);

#endif
