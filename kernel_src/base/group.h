/* SPDX-License-Identifier: MIT */
/* The table of groups in device memory: written by the host when operands are
 * bound, or by gemm/experts.cu, and read by every kernel. Shared with C11. */
#ifndef JG_GROUP_H
#define JG_GROUP_H

#include <base/both.h>

enum jg_output { JG_F16, JG_BF16, JG_F32 }; /* elements of C */

/* Elements of A; numbered as jitgemm_input. */
enum jg_input { JG_IN_NVFP4 = 0, JG_IN_F16 = 16, JG_IN_BF16 = 17 };

enum jg_weights { JG_W_NVFP4, JG_W_MXFP4 }; /* B; as jitgemm_weights */

struct jg_group {
    unsigned char b_map[128]; /* CUtensorMap of the weights, 64-byte aligned */
    const unsigned char *a, *sfa; /* sfa: of JG_IN_NVFP4 */
    const unsigned char *b, *sfb;
    unsigned short *c; /* f16; of other types by their kernels' casts */
    const float *alpha; /* may be null: 1 */
    const unsigned char *bias; /* elements as those of C; may be null: 0 */
    unsigned long long activations; /* where this group's begin in the
                                       workspace, bytes; see
                                       gemm/sm90_activations.cu */
    int m, n, k;
    int chunks; /* of 64 k, padded to whole stages */
    int tile_rows; /* tokens of a tile, a multiple of 8 */
    int reserved;
    long long row_a, row_c; /* bytes from row to row, multiples of 16 */
    unsigned char unused[24]; /* the next map is aligned too */
};

/* What a kernel gets. Group g owns the tiles first_tile[g] up to
 * first_tile[g + 1], and likewise the units of activations. */
struct jg_table {
    const struct jg_group *groups;
    const int *first_tile; /* [count + 1] */
    const int *first_unit; /* [count + 1] */
    unsigned char *workspace;
    int count;
    int tiles; /* first_tile[count]; -1: a kernel before writes the table */
    int units; /* first_unit[count] */
    const unsigned char *maps; /* gemm/sm100_nvfp4.cu: CUtensorMaps */
};

/* How groups of one n and k are cut. */
struct jg_tiling {
    int tile_m; /* tokens of a tile, at most */
    int whole;  /* tiles begin at multiples of tile_m, or are about equal */
    int across; /* tiles of the weight rows */
    int chunks; /* of 64 k, padded to whole stages */
    int units;  /* of activations, of 8 tokens; 0: nobody decodes them ahead */
};

/* Tokens of a tile, in whole atoms of 8. Equal tiles are as few as can be. */
JG_BOTH int jg_tile_rows(const struct jg_tiling *tiling, unsigned m)
{
    unsigned most = (unsigned)tiling->tile_m;
    unsigned tiles = m ? (m - 1) / most + 1 : 1;

    return (int)(tiling->whole ? most
                               : ((m + tiles - 1) / tiles + 7) / 8 * 8);
}

#endif
