/* SPDX-License-Identifier: MIT */
/* A problem once it has been checked: sizes of every group, in range. */
#ifndef JG_PROBLEM_H
#define JG_PROBLEM_H

#include <base/group.h>
#include <base/rows.h>
#include <stdbool.h>

#include "status.h"

struct jg_size {
    int32_t m, n, k;
};

struct jg_problem { /* all zero: none */
    int32_t groups;
    struct jg_size *sizes; /* [groups] */
    enum jg_output output;   /* type of C */
    enum jg_input input;     /* type of A */
    enum jg_weights weights; /* type of B */
    bool split_k;          /* is allowed */
    bool accumulate;       /* C is added to */
    bool dependent;        /* launch: the kernels are the same */
    int sm_limit;          /* multiprocessors; 0: all */
    int64_t row_a, row_c;  /* bytes from row to row; 0: packed, all groups */
    /* m is what is typical, and device memory has what it is: */
    bool on_device;
    enum jg_rows layout;
    enum jg_scale_place place;
    int32_t max_rows; /* of all groups; JG_MASKED: of each */
    bool zero_tail;   /* rows of C that are no group's become 0 */
};

/* Checks and copies the caller's problem: E_ARGUMENT, E_VERSION, E_SHAPE or
 * E_MEMORY, naming argument, group and rule. */
jitgemm_status jg_problem_read(const jitgemm_problem *from,
                               struct jg_problem *to);
/* The sizes as jitgemm-warm takes them, "80,176x4096x7168", if all groups have
 * one n and k; otherwise one such text a group. Cut at what fits. On the
 * device: "8@4096/512x7168x2048:masked:strided", 8 groups of at most 4096 rows
 * and typically 512. Then, as options, what is not the default: " --a bf16",
 * " --b mxfp4", " --c f32", " --split-k", " --row-a 4096", " --accumulate",
 * " --zero-tail", " --sm-limit 64". */
#define JG_PROBLEM_TEXT 320
void jg_problem_print(const struct jg_problem *problem,
                      char text[JG_PROBLEM_TEXT]);

/* For jitgemm_scale_bytes() of the scales of B: that k, or half of it. */
int32_t jg_problem_scale_k(const struct jg_problem *problem, int32_t k);

/* Bytes from row to row of A and of C in a group with that k and n. */
int64_t jg_problem_row_a(const struct jg_problem *problem, int32_t k);
int64_t jg_problem_row_c(const struct jg_problem *problem, int32_t n);
/* Whether they are more than a row has, in any group. */
bool jg_problem_is_strided(const struct jg_problem *problem);

void jg_problem_free(struct jg_problem *problem); /* back to all zero */

#endif
