/* SPDX-License-Identifier: MIT */
/* What the command line wants kernels for, in order. */
#ifndef JITGEMM_WARM_PROBLEM_LIST_H
#define JITGEMM_WARM_PROBLEM_LIST_H

#include <jitgemm.h>
#include <stdbool.h>
#include <stddef.h>

struct named_problem {
    jitgemm_problem problem; /* its arrays are in `sizes` */
    int64_t *sizes;          /* m, then n, then k, one after the other */
    /* In place of a problem, if its size is not 0: */
    jitgemm_conversion_options conversion;
    char *where; /* what to call it in messages */
    /* Of the first problem of a model, unless NULL: its name, and whether its
     * activation is gpt-oss's. */
    const char *model;
    bool oai;
};

struct problem_list { /* all zero: empty */
    struct named_problem *items;
    size_t count, capacity;
};

/* Adds the problem or conversion that the text spells: see problem_text.h.
 * Messages begin with where it comes from, unless that is NULL. False after a
 * message. */
bool problem_list_add(struct problem_list *list, const char *origin,
                      const char *text);
bool problem_list_convert(struct problem_list *list, const char *origin,
                          const char *text);

/* Adds the problems of a file, one a line; "#" starts a comment. "-" is
 * standard input. False after a message. */
bool problem_list_read(struct problem_list *list, const char *path);

enum { PROBLEM_LIST_UNTOLD = -1 };

/* Sets what all problems have in common: flags, types, strides, the limit. Of
 * types that are PROBLEM_LIST_UNTOLD, B stays what it is and A is what fits
 * it. */
void problem_list_set(struct problem_list *list,
                      const jitgemm_problem *common);

void problem_list_free(struct problem_list *list);

#endif
