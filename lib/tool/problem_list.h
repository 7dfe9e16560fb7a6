/* SPDX-License-Identifier: MIT */
/* The problems named on the command line and in list files, in order. */
#ifndef JITGEMM_WARM_PROBLEM_LIST_H
#define JITGEMM_WARM_PROBLEM_LIST_H

#include <jitgemm.h>
#include <stdbool.h>
#include <stddef.h>

struct named_problem {
    jitgemm_problem problem; /* its arrays are in `sizes` */
    int64_t *sizes;          /* m, then n, then k, one after the other */
    char *where;             /* what to call it in messages */
};

struct problem_list { /* all zero: empty */
    struct named_problem *items;
    size_t count, capacity;
};

/* Adds the problem that `text` spells:
 *
 *   problem = rows | experts ;
 *   rows    = number { "," number } "x" number "x" number ;
 *   experts = number "@" number [ "/" number ] "x" number "x" number
 *             [ ":" layout [ ":" place ] ] ;
 *
 * Rows: one group for each number before the first "x" (its m), all of one n
 * and one k. Experts: so many groups of at most and typically so many rows,
 * as jitgemm_problem has them. False after a message about text that is not of this form; limits
 * on sizes are the library's business. */
bool problem_list_add(struct problem_list *list, const char *text);

/* Adds the problems of a file, one a line; "#" starts a comment. "-" is
 * standard input. False after a message. */
bool problem_list_read(struct problem_list *list, const char *path);

void problem_list_free(struct problem_list *list);

#endif
