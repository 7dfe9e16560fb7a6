/* SPDX-License-Identifier: MIT */
/* What gemm/experts.cu gets. Shared with C11. */
#ifndef JG_EXPERTS_H
#define JG_EXPERTS_H

#include <base/group.h>
#include <base/rows.h>

/* Operands of all groups, which have one n and k. */
struct jg_experts_job {
    unsigned long long maps[4][16]; /* CUtensorMaps as a group's, but of any
                                       address and rows */
    struct jg_row_numbers numbers;
    struct jg_group *groups; /* to write: the table, in its order */
    int *first_tile, *first_unit;
    unsigned char *group_maps; /* gemm/sm100_nvfp4.cu: those of each group */
    const unsigned char *a, *sfa;
    const unsigned char *b, *sfb; /* those of a group are `stride` apart */
    unsigned char *c;
    const float *alpha;        /* [groups], or null: 1 */
    const unsigned char *bias; /* of each group, one after the other; or
                                  null: 0 */
    long long stride_b, stride_sfb; /* bytes */
    long long row_a, row_c;         /* bytes from row to row */
    int n, k;
    struct jg_tiling tiling;
    int most_atoms; /* of 8 rows: what the workspace has room for */
    long long row_bytes_c; /* what a row of C has; of a bias, too */
};

#endif
