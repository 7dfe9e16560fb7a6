/* SPDX-License-Identifier: MIT */
/* Shapes that tests and benchmarks share: the public problem's (GPU MODE
 * nvfp4_group_gemm) and those of mixture-of-experts and dense layers. */
#ifndef CASES_H
#define CASES_H

#include <stddef.h>
#include <stdint.h>

enum { CASE_GROUPS = 384 }; /* at most, in one case */

enum case_kind {
    CASE_TEST,  /* the public problem's tests */
    CASE_BENCH, /* the public problem's benchmarks */
    CASE_LAYER  /* layers of experts, dense layers, single products */
};

struct gemm_case {
    char name[48];
    enum case_kind kind;
    int32_t groups;
    int64_t m[CASE_GROUPS], n[CASE_GROUPS], k[CASE_GROUPS];
};

extern const struct gemm_case cases[];
extern const size_t cases_count;

/* NULL if there is none of that name. */
const struct gemm_case *case_find(const char *name);

/* Two a multiply-add, all groups together. */
double case_flops(const struct gemm_case *c);

/* What must cross device memory once: values, scales without padding, and
 * f16 results, of groups that have tokens. */
double case_bytes(const struct gemm_case *c);

#endif
