/* SPDX-License-Identifier: MIT */
/* A product of stacked experts on the GPU with its operands, and C against the
 * reference. */
#ifndef EXPERT_CASE_H
#define EXPERT_CASE_H

#include "jitgemm.h"
#include "reference.h"
#include "reference_rows.h"

struct jg_config;

struct jg_model;

struct expert_case {
    struct ref_rows rows; /* host: may change between runs */
    int64_t n, k, hint_rows;
    jitgemm_type c_type;
    jitgemm_input a_type;
    jitgemm_weights b_type;
    int64_t gap;    /* bytes between what experts have of b and sfb */
    uint8_t poison; /* of scales that are nobody's */
    bool with_bias;
    int32_t sm_limit;     /* of the problem */
    uint32_t flags;       /* likewise; JITGEMM_ACCUMULATE: to POISON */
    int64_t row_a, row_c; /* likewise, bytes */
    bool no_alpha; /* 1 for all, which C of f16 may overflow with */
    /* Made by expert_case_make(): */
    struct ref_operand a;               /* all rows */
    struct ref_operand *b;              /* [groups] */
    float *alpha;                       /* [groups] */
    double *bias;                       /* [groups * n], or NULL */
    jitgemm_expert_arguments arguments; /* device; no workspace */
    size_t sfa_bytes, c_bytes;
};

/* Random operands on host and device; expert_case_upload() is next. */
void expert_case_make(struct expert_case *c, uint64_t seed);
void expert_case_free(struct expert_case *c);

jitgemm_problem expert_case_problem(const struct expert_case *c);

/* With that configuration or, if NULL, the plan's own choice. */
jitgemm_plan *expert_case_plan(const struct expert_case *c,
                               jitgemm_context *context,
                               const struct jg_config *config);

/* How many of the model's configurations experts may have: the last ones split
 * k, which they may not. */
int expert_case_configs(const struct jg_model *model);

/* What the plan wants, to the last byte, poisoned. */
void expert_case_workspace(const jitgemm_plan *plan,
                           jitgemm_expert_arguments *arguments);

/* rows, scale_row and the scales where they belong then; C poisoned, no fault.
 */
void expert_case_upload(const struct expert_case *c);

/* How many elements of C, or fields of the fault, are not what they must be.
 * The first few are told. */
int64_t expert_case_check(const struct expert_case *c, const char *name);

/* All of C, from the device; free() it. */
void *expert_case_download(const struct expert_case *c);

/* All of the above: runs once. */
int64_t expert_case_test(struct expert_case *c, jitgemm_context *context,
                         const struct jg_config *config, const char *name);

#endif
