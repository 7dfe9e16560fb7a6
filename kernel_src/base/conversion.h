/* SPDX-License-Identifier: MIT */
/* What a conversion's kernel gets, and where the scales of a group begin.
 * Shared with C11. */
#ifndef JG_CONVERSION_H
#define JG_CONVERSION_H

#ifdef __CUDACC__
#define JG_BOTH __host__ __device__ inline
#else
#define JG_BOTH static inline
#endif

enum jg_rows { JG_STACKED, JG_MASKED };
enum jg_scale_place { JG_TIGHT, JG_FLOOR, JG_CEIL, JG_STRIDED, JG_EXPLICIT };

enum { JG_ATOM_ROWS = 128, JG_ATOM_K = 64, JG_ATOM_BYTES = 512 };

enum { JG_FAULT_ROWS = 1, JG_FAULT_SCALE_ROW = 2 };

struct jg_fault { /* jitgemm_fault */
    int code, group;
    long long value;
};

struct jg_conversion_job {
    const unsigned char *x;
    long long x_stride; /* bytes from row to row */
    const int *rows;    /* JG_STACKED: offsets [groups + 1]; JG_MASKED: counts
                           [groups], or null: all of max_rows */
    const float *scale; /* [groups], or null: 1 */
    const int *scale_row; /* JG_EXPLICIT: [groups] */
    unsigned char *values;
    unsigned char *scales;
    struct jg_fault *fault; /* or null */
    long long scale_rows;   /* that fit in scales */
    int groups, k;
    int max_rows; /* JG_STACKED: of all groups; JG_MASKED: of each */
    int unused;
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
