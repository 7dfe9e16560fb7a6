/* SPDX-License-Identifier: MIT */
/* What numbers in device memory say of groups: a reference that shares no code
 * with the library. */
#ifndef REFERENCE_ROWS_H
#define REFERENCE_ROWS_H

#include <stdbool.h>

#include "jitgemm.h"

struct ref_rows { /* as in the arguments, but of the host */
    jitgemm_layout layout;
    jitgemm_place place;
    int32_t groups;
    int64_t max_rows, scale_rows;
    const int32_t *rows, *scale_row;
};

struct ref_group {
    int64_t first, rows; /* 0 rows if it is bad */
    int64_t start;       /* row at which its scales begin */
    bool room;           /* for them */
};

/* An array of the groups, and the fault; free() it. */
struct ref_group *ref_rows_read(const struct ref_rows *from,
                                jitgemm_fault *fault);

/* Rows of scales that there is room for. */
int64_t ref_rows_room(const struct ref_rows *from);

#endif
