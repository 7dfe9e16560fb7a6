/* SPDX-License-Identifier: MIT */
/* What kernels get of experts, whose rows device memory tells. Shared with
 * C11. */
#ifndef JG_EXPERTS_H
#define JG_EXPERTS_H

#include <base/group.h>
#include <base/rows.h>

/* Hopper's kernels make the table of so many groups each for themselves, in
 * shared memory. More would not fit beside the widest tiles' stages. */
enum { JG_OWN_GROUPS = 256 };

/* Operands of all groups, which have one n and k. */
struct jg_experts {
    struct jg_row_numbers numbers;
    const unsigned char *a, *sfa;
    const unsigned char *b, *sfb; /* those of a group are `stride` apart */
    unsigned char *c;
    const float *alpha;        /* [groups], or null: 1 */
    const unsigned char *bias; /* of each group, one after the other; or
                                  null: 0 */
    long long stride_b, stride_sfb; /* bytes */
    long long row_a, row_c;         /* bytes from row to row */
    long long row_bytes_c; /* what a row of C has; of a bias, too */
    int n, k;
    struct jg_tiling tiling;
    int most_atoms; /* of 8 rows: what the workspace has room for */
};

/* gemm/experts.cu */
struct jg_experts_job {
    unsigned long long maps[4][16]; /* CUtensorMaps as a group's, but of any
                                       address and rows */
    struct jg_experts experts;
    struct jg_group *groups; /* to write: the table, in its order */
    int *first_tile, *first_unit;
    unsigned char *group_maps; /* gemm/sm100_nvfp4.cu: those of each group */
};

/* gemm/sm90_activations.cu and gemm/sm90_nvfp4.cu */
struct jg_own_job {
    JG_ALIGNED(64) unsigned char b_map[128]; /* CUtensorMap of all weights:
                                                [group][n][k/2] */
    struct jg_experts experts;
    unsigned char *workspace; /* decoded activations */
    int layout, place;        /* jg_rows, jg_scale_place */
    int zero_tail; /* rows of C that are no group's become 0 */
};

#endif
