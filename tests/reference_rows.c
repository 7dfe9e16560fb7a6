/* SPDX-License-Identifier: MIT */
#include "reference_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t whole(int64_t rows)
{
    return (rows + 127) / 128 * 128;
}

/* By the formulas of those who place them so. */
int64_t ref_rows_room(const struct ref_rows *from)
{
    bool masked = from->layout == JITGEMM_ROWS_MASKED;
    int64_t groups = from->groups;
    int64_t all = masked ? groups * from->max_rows : from->max_rows;

    switch (from->place) {
    case JITGEMM_PLACE_STRIDED:
        return groups * whole(from->max_rows);
    case JITGEMM_PLACE_CEIL:
        return whole(all + 127 * groups);
    case JITGEMM_PLACE_EXPLICIT:
        return from->scale_rows;
    default:
        return (all + 127 * groups) / 128 * 128;
    }
}

/* 0, or why the group is bad; *wrong is the number then. */
static int32_t read_rows(const struct ref_rows *in, int32_t g,
                         struct ref_group *group, int64_t *wrong)
{
    int64_t last, from, to;

    if (in->layout == JITGEMM_ROWS_MASKED) {
        last = in->max_rows;
        from = 0;
        to = in->rows ? in->rows[g] : in->max_rows;
        group->first = g * in->max_rows;
    } else {
        last = in->rows[in->groups];
        if (last < 0 || last > in->max_rows)
            last = in->max_rows;
        group->first = from = in->rows[g];
        to = in->rows[g + 1];
    }
    group->rows = to - from;
    *wrong = from < 0 || from > last ? from : to;
    return from < 0 || from > last || to < from || to > last
               ? JITGEMM_FAULT_ROWS
               : 0;
}

/* Likewise. `tight` is where the groups before it end. */
static int32_t place(const struct ref_rows *in, int32_t g, int64_t tight,
                     struct ref_group *group, int64_t *wrong)
{
    int64_t loose = group->first + 127 * (int64_t)g;

    switch (in->place) {
    case JITGEMM_PLACE_TIGHT:
        group->start = tight;
        break;
    case JITGEMM_PLACE_FLOOR:
        group->start = loose - loose % 128;
        break;
    case JITGEMM_PLACE_CEIL:
        group->start = whole(loose);
        break;
    case JITGEMM_PLACE_STRIDED:
        group->start = g * whole(in->max_rows);
        break;
    case JITGEMM_PLACE_EXPLICIT:
        *wrong = group->start = in->scale_row[g];
        if (group->rows &&
            (group->start < 0 || group->start % 128 ||
             group->start + whole(group->rows) > in->scale_rows))
            return JITGEMM_FAULT_SCALE_ROW;
    }
    return 0;
}

struct ref_group *ref_rows_read(const struct ref_rows *from,
                                jitgemm_fault *fault)
{
    struct ref_group *groups = calloc((size_t)from->groups, sizeof *groups);
    int64_t tight = 0;

    if (!groups) {
        fprintf(stderr, "reference: out of memory\n");
        exit(99);
    }
    memset(fault, 0, sizeof *fault);
    for (int32_t g = 0; g < from->groups; g++) {
        struct ref_group *group = &groups[g];
        int64_t wrong;
        int32_t code = read_rows(from, g, group, &wrong);

        if (!code)
            code = place(from, g, tight, group, &wrong);
        if (code) {
            if (!fault->code)
                *fault = (jitgemm_fault){code, g, wrong};
            *group = (struct ref_group){0};
            continue;
        }
        tight += whole(group->rows);
        group->room = group->start + whole(group->rows) <= ref_rows_room(from);
    }
    return groups;
}
