/* SPDX-License-Identifier: MIT */
/* A grouped product on the GPU with its operands, for tests and benchmark. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "jitgemm.h"
#include "reference.h"

struct jg_config;

struct product {
    int32_t groups;
    int64_t *m, *n, *k;
    struct ref_operand *a, *b; /* [groups], host */
    float *alpha;              /* [groups], host */
    bool with_alpha;           /* the device has it too */
    uint32_t flags;            /* of the problem; JITGEMM_ACCUMULATE: C has
                                  bits of its own before, not a poison */
    jitgemm_input a_type;
    jitgemm_weights b_type;
    jitgemm_type c_type;       /* f16 unless set after product_make() */
    double **bias;             /* [groups], host; NULL: none */
    int64_t row_a, row_c;      /* of the problem */
    void **device[7];          /* a, sfa, b, sfb, c, alpha, bias: device
                                  pointers */
};

/* Fresh random operands. With `alpha` each group has its own, of a size that
 * keeps C of REF_FULL operands inside f16; without, all are NULL. */
void product_make(struct product *p, int32_t groups, const int64_t *m,
                  const int64_t *n, const int64_t *k, enum ref_fill fill,
                  bool alpha, uint64_t seed);
/* Fresh operands A of such elements instead. */
void product_make_a(struct product *p, jitgemm_input type, enum ref_fill fill,
                    uint64_t seed);
/* Fresh MXFP4 operands B instead. */
void product_make_mxfp4(struct product *p, enum ref_fill fill, uint64_t seed);
/* A bias for each group but every third; once c_type is set. */
void product_make_bias(struct product *p, uint64_t seed);
/* Rows of A and C with at least a gap of so many bytes between them, or packed
 * if that is 0; once all types are set. What is between those of A is no
 * number. */
void product_make_rows(struct product *p, int64_t gap_a, int64_t gap_c);
void product_free(struct product *p);

/* The device part alone, for a copy of the struct that shares the rest. */
void product_upload(struct product *p);
void product_release(struct product *p);

jitgemm_problem product_problem(const struct product *p);
jitgemm_operands product_operands(const struct product *p);

/* A plan with the operands bound: with that configuration or, if NULL, the
 * plan's own choice. */
jitgemm_plan *product_plan(const struct product *p, jitgemm_context *context,
                           const struct jg_config *config);

/* Fills C, and the guard behind it, with a NaN that no product makes. */
void product_poison(const struct product *p);

/* C and guard of a group, from the device; free() it. */
void *product_download(const struct product *p, int32_t group);

/* How many elements of C are not a rounding of a justified sum or, if `exact`,
 * of the exact one: REF_PUBLIC sums are exact in f32, so that every kernel
 * gives the same bits. Touched guards, and what is between rows, count too. At
 * most `most_rows` of a group are looked at, all if 0. *worst: the largest
 * error in units of what is justified. */
int64_t product_check(const struct product *p, int64_t most_rows, bool exact,
                      double *worst);

#endif
