/* SPDX-License-Identifier: MIT */
/* Groups whose rows device memory tells: the rules that conversions and
 * products have in common. Pure. */
#ifndef JG_ROWS_READ_H
#define JG_ROWS_READ_H

#include <base/rows.h>

#include "status.h"

/* 0 to `most`: E_ARGUMENT. */
jitgemm_status jg_rows_check_range(const char *name, int64_t value,
                                   int64_t most);

/* Checks both, which the names are of: E_ARGUMENT. */
jitgemm_status jg_rows_check_kind(const char *layout_name,
                                  jitgemm_layout layout,
                                  const char *place_name, jitgemm_place place);

/* A pointer that is wanted, or must be NULL, or (want < 0) may be either:
 * E_ARGUMENT, E_ALIGN. */
jitgemm_status jg_rows_check_pointer(const char *name, const void *pointer,
                                     int want, unsigned alignment);

/* The fields of both structs of arguments. */
struct jg_rows_given {
    enum jg_rows layout;
    enum jg_scale_place place;
    int32_t groups;
    int64_t max_rows, scale_rows;
    const int32_t *rows, *scale_row;
    jitgemm_fault *fault;
};

/* E_ARGUMENT, E_ALIGN, E_SHAPE. */
jitgemm_status jg_rows_read(const struct jg_rows_given *from,
                            struct jg_row_numbers *to);

#endif
