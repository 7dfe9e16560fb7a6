/* SPDX-License-Identifier: MIT */
/* Groups whose rows device memory tells: the numbers there, and where the
 * scales of a group begin. Shared with C11. */
#ifndef JG_ROWS_H
#define JG_ROWS_H

#include <base/both.h>

enum jg_rows { JG_STACKED, JG_MASKED };
enum jg_scale_place { JG_TIGHT, JG_FLOOR, JG_CEIL, JG_STRIDED, JG_EXPLICIT };

enum { JG_ATOM_ROWS = 128, JG_ATOM_K = 64, JG_ATOM_BYTES = 512 };

enum { JG_FAULT_ROWS = 1, JG_FAULT_SCALE_ROW = 2 };

struct jg_fault { /* jitgemm_fault */
    int code, group;
    long long value;
};

struct jg_row_numbers {
    const int *rows; /* JG_STACKED: offsets [groups + 1]; JG_MASKED: counts
                        [groups], or null: all of max_rows */
    const int *scale_row;   /* JG_EXPLICIT: [groups] */
    struct jg_fault *fault; /* or null */
    long long scale_rows;   /* that there is room for */
    int groups;
    int max_rows; /* JG_STACKED: of all groups; JG_MASKED: of each */
};

/* Rows in whole atoms. */
JG_BOTH long long jg_atom_rows(long long rows)
{
    return (rows + JG_ATOM_ROWS - 1) / JG_ATOM_ROWS * JG_ATOM_ROWS;
}

/* The row at which the scales of group g begin, which has its rows from
 * `first` on, of a kind that needs to know nothing of other groups. Of stacked
 * groups no two overlap, since floor(a + b) >= floor(a) + floor(b). */
JG_BOTH long long jg_scale_row(int place, long long first, int g, int max_rows)
{
    long long loose = first + (JG_ATOM_ROWS - 1LL) * g;

    return place == JG_FLOOR  ? loose / JG_ATOM_ROWS * JG_ATOM_ROWS
           : place == JG_CEIL ? jg_atom_rows(loose)
                              : g * jg_atom_rows(max_rows); /* JG_STRIDED */
}

/* Rows to allocate for groups of so many rows in all or, JG_STRIDED, each;
 * whatever the groups are, none ends behind that. */
JG_BOTH long long jg_scale_rows(int place, long long rows, int groups)
{
    long long loose = rows + (JG_ATOM_ROWS - 1LL) * groups;

    return place == JG_STRIDED ? groups * jg_atom_rows(rows)
           : place == JG_CEIL  ? jg_atom_rows(loose)
                               : loose / JG_ATOM_ROWS * JG_ATOM_ROWS;
}

#endif
