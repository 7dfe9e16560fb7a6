/* SPDX-License-Identifier: MIT */
/* A float64 reference of the product, written from the formats' definitions
 * and sharing no code with the library. Memory or threads that cannot be had
 * end the program with status 99, automake's hard error. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* splitmix64: a case replays from its seed alone. */
uint64_t ref_random(uint64_t *state);

double ref_e2m1(unsigned code); /* the low four bits */
double ref_e4m3(unsigned byte); /* sign ignored; 0x7F and 0xFF: NaN */
double ref_e8m0(unsigned byte); /* 2^(byte - 127); 0xFF: NaN */
uint16_t ref_f16(double x);     /* nearest even; past 65504: infinity */
double ref_f16_value(uint16_t bits);

/* bf16 is the upper half of an f32. */
enum ref_type { REF_F16, REF_BF16, REF_F32 }; /* numbered as jitgemm_type */
double ref_round(enum ref_type type, double x); /* nearest even */
double ref_load(enum ref_type type, const void *array, int64_t index);
void ref_store(enum ref_type type, void *array, int64_t index, double x);

/* Byte of one scale in the blocked layout of rows of k values. */
size_t ref_scale_offset(int64_t row, int64_t block, int64_t k);

struct ref_operand {
    int64_t rows, k; /* k a multiple of 16 */
    uint8_t *values; /* rows * k/2 bytes, even k in the low four bits; without
                        scales rows * k elements of `type` */
    uint8_t *scales; /* blocked, padding included; or NULL */
    size_t value_bytes, scale_bytes;
    enum ref_type type; /* f16 or bf16 */
    bool mx; /* scales are e8m0, one for 32 k; else e4m3 for 16 */
};

enum ref_fill {
    REF_PUBLIC, /* the public problem: values 0, .5, 1, 1.5 and negatives;
                   scales 1 or 2 */
    REF_FULL,   /* every e2m1 code, every finite e4m3 code, either sign;
                   f16 and bf16 of all sizes below 2^10, 0 and subnormals;
                   e8m0 from 2^-7 to 2^8 */
    REF_UNIT    /* every e2m1 code, scales 1 */
};

/* Padding scales are NaN (0x7F), so that any use of one shows. */
void ref_operand_alloc(struct ref_operand *operand, int64_t rows, int64_t k);
/* MXFP4; padding scales are NaN likewise (0xFF). */
void ref_operand_alloc_mx(struct ref_operand *operand, int64_t rows,
                          int64_t k);
/* The value of the scale of an element; NaN may be one. */
double ref_operand_scale(const struct ref_operand *operand, int64_t row,
                         int64_t k);
/* Without scales. */
void ref_operand_alloc_type(struct ref_operand *operand, int64_t rows,
                            int64_t k, enum ref_type type);
void ref_operand_fill(struct ref_operand *operand, enum ref_fill fill,
                      uint64_t seed);
void ref_operand_free(struct ref_operand *operand);

/* The value of one element, scale included. */
double ref_operand_value(const struct ref_operand *operand, int64_t row,
                         int64_t k);

/* c[i * b->rows + j] = alpha * sum over k of a[i, k] * b[j, k], and abs_sum,
 * if not NULL, the same sum of magnitudes. Exact but for the last bits of a
 * float64. */
void ref_product(const struct ref_operand *a, const struct ref_operand *b,
                 double alpha, double *c, double *abs_sum, int threads);

/* Adds bias[j] to c[i * n + j], and its magnitude to abs_sum. */
void ref_add_bias(const double *bias, int64_t rows, int64_t n, double *c,
                  double *abs_sum);

/* How far a sum of k products in f32 may be from the exact one before it is
 * rounded, and after that if it is to f16. abs_sum is ref_product()'s. */
double ref_sum_bound(double abs_sum, int64_t k);
double ref_bound(double exact, double abs_sum, int64_t k);

/* Whether `got` is what some sum within ref_sum_bound() rounds to. Unlike
 * ref_bound() it knows overflow to infinity and NaN. */
bool ref_agrees(enum ref_type type, double got, double exact, double abs_sum,
                int64_t k);

#endif
