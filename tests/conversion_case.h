/* SPDX-License-Identifier: MIT */
/* A conversion on the GPU with its input and output, and what it must write:
 * by a reference that shares no code with the library and finds the nearest
 * code by trying all of them. */
#ifndef CONVERSION_CASE_H
#define CONVERSION_CASE_H

#include <stdbool.h>

#include "jitgemm.h"
#include "reference.h"

struct conversion_case {
    jitgemm_conversion_options options;
    int32_t groups;
    int64_t k, max_rows, ldx; /* ldx 0: packed */
    const int32_t *rows;      /* as in the arguments, but of the host */
    const float *scale;
    const int32_t *scale_row;
    int64_t scale_rows;
    const int32_t *gather; /* [conversion_case_rows()] */
    int64_t x_rows;        /* then */
    /* Made by conversion_case_make(): */
    uint8_t *x; /* host */
    size_t x_bytes, values_bytes, scales_bytes;
    jitgemm_conversion_arguments arguments; /* device */
};

enum conversion_fill {
    FILL_RANDOM,  /* of many sizes */
    FILL_TIES,    /* few bits, so that many values lie between two codes */
    FILL_SPECIAL, /* any bits: NaN, infinities, subnormals */
    FILL_NONE     /* zeros */
};

/* Fills x, whose gaps between rows are NaN, and allocates on the device. */
void conversion_case_make(struct conversion_case *c, enum conversion_fill fill,
                          uint64_t seed);
void conversion_case_free(struct conversion_case *c);

/* x, rows, scale and scale_row to the device again, output poisoned, no fault.
 */
void conversion_case_upload(const struct conversion_case *c);

/* How many bytes of values, scales and fault are not what they must be; what
 * nobody may write is looked at, too. The first few are told. */
int64_t conversion_case_check(const struct conversion_case *c,
                              const char *name);

/* All of the above but for what only some tests need: converts once, and
 * returns what the check does. */
int64_t conversion_case_test(jitgemm_context *context,
                             struct conversion_case *c,
                             enum conversion_fill fill, const char *name);

/* Blocked scales. */
jitgemm_conversion_options conversion_options(jitgemm_type x_type,
                                              jitgemm_layout layout,
                                              jitgemm_place place);

/* Ends the program if it cannot be made. */
jitgemm_conversion *conversion_make(jitgemm_context *context,
                                    jitgemm_type x_type,
                                    jitgemm_layout layout,
                                    jitgemm_place place);
jitgemm_conversion *conversion_of(jitgemm_context *context,
                                  const struct conversion_case *c);

/* How many elements x has in a row, from row to row, and how many rows the
 * output has. */
int64_t conversion_case_width(const struct conversion_case *c);
int64_t conversion_case_stride(const struct conversion_case *c);
int64_t conversion_case_rows(const struct conversion_case *c);

/* ---- The reference ---- */

/* As jitgemm_conversion_run() defines it. */
float ref_swiglu(float gate, float up);
float ref_swiglu_oai(float gate, float up);

/* 16 elements to a scale and 8 bytes of values. */
uint8_t ref_quantize_block(const double x[16], float global,
                           uint8_t values[8]);

/* Writes what the conversion writes, and sets the fault. */
void ref_convert(const struct conversion_case *c, uint8_t *values,
                 uint8_t *scales, jitgemm_fault *fault);

#endif
