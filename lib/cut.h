/* SPDX-License-Identifier: MIT */
/* A configuration, and how it cuts a group into tiles. Pure. */
#ifndef JG_CUT_H
#define JG_CUT_H

/* Beyond this many groups a product makes its tensor maps itself: of all maps,
 * the host would have to encode and upload far more than blocks use. */
#define JG_CUT_HOST_MAPS 512

#include <base/group.h>
#include <stdbool.h>

#include "device.h"
#include "problem.h"

struct jg_config {
    enum jg_family family;
    int tile_m; /* tokens, at most */
    int tile_n; /* weight rows, of all CTAs together */
    int tile_k; /* k of a stage */
    int stages;
    enum jg_input input;     /* type of A */
    enum jg_weights weights; /* type of B */
    enum jg_output output;   /* type of C */
    bool strided;    /* rows of A or C are not packed: the table tells */
    bool accumulate; /* to what is in C */
    int ctas; /* that share a tile, neighbours in a cluster: of JG_SM100 2, or
                 of JG_SM90 up to 8 with a part of its k each; else 1 */
    /* JG_SM90 */
    int width_step; /* widths of the matrix instruction: the multiples of this
                       up to tile_m */
    int blocks;     /* a multiprocessor */
    bool fused;     /* the product decodes the activations itself, instead of a
                       kernel before it */
    /* JG_SM100 */
    int accumulators; /* tiles in tensor memory */
    bool swapped;     /* the instruction's rows are weights, not tokens */
    bool edits_maps;  /* the kernel makes its tensor maps itself */
    /* Sizes on the device: a kernel before these makes the table of groups,
       or, of JG_SM90, each makes its own. */
    bool experts, own_table;
    enum jg_rows layout;
    enum jg_scale_place place;
    bool zero_tail; /* what is left of C is filled with zeros */
};

struct jg_tiling jg_cut_tiling(const struct jg_config *config, int32_t n,
                               int32_t k);

/* Tokens of a tile, a multiple of 8; see kernel_src/base/group.h. */
int jg_cut_tile_rows(const struct jg_config *config, struct jg_size size);
int64_t jg_cut_tiles(const struct jg_config *config, struct jg_size size);

/* k in pieces of 64, whole stages; and activations as gemm/sm90_activations.cu
 * decodes them, in units of 8 tokens x 64 k: none without that kernel. */
int64_t jg_cut_chunks(const struct jg_config *config, struct jg_size size);
int64_t jg_cut_units(const struct jg_config *config, struct jg_size size);

/* What of the device the problem may use. */
struct jg_device jg_cut_device(const struct jg_problem *problem,
                               const struct jg_device *device);

/* Whether the configuration can do the problem. */
bool jg_cut_allows(const struct jg_config *config,
                   const struct jg_problem *problem,
                   const struct jg_device *device);

int64_t jg_cut_ceil_div(int64_t a, int64_t b);

#endif
