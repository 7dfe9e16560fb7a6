/* SPDX-License-Identifier: MIT */
/* A problem once it has been checked: sizes of every group, in range. */
#ifndef JG_PROBLEM_H
#define JG_PROBLEM_H

#include <base/group.h>

#include "status.h"

struct jg_size {
    int32_t m, n, k;
};

struct jg_problem { /* all zero: none */
    int32_t groups;
    struct jg_size *sizes; /* [groups] */
    enum jg_output output; /* type of C */
    enum jg_input input;   /* type of A */
};

/* Checks and copies the caller's problem: E_ARGUMENT, E_VERSION, E_SHAPE or
 * E_MEMORY, naming argument, group and rule. */
jitgemm_status jg_problem_read(const jitgemm_problem *from,
                               struct jg_problem *to);
/* The sizes as jitgemm-warm takes them, "80,176x4096x7168", if all groups have
 * one n and k; otherwise one such text a group. Cut at what fits. */
#define JG_PROBLEM_TEXT 256
void jg_problem_print(const struct jg_problem *problem,
                      char text[JG_PROBLEM_TEXT]);

void jg_problem_free(struct jg_problem *problem); /* back to all zero */

#endif
