/* SPDX-License-Identifier: MIT */
/* What was measured, as a table and as JSON. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>

#include "cases.h"
#include "limits.h"
#include "options.h"
#include "peers.h"

struct figure { /* all zero: none */
    int runs;
    double of_run[MOST_RUNS]; /* the median of each, us */
    double low, high;         /* of one run's replays, or of the runs */
};

void figure_add(struct figure *figure, const struct times *times);
double figure_us(const struct figure *figure); /* the median of the runs */

struct result {
    const struct gemm_case *c;
    struct figure ours, peers[PEERS];
    char kernel[80];
};

/* A line of the table, and the line above it. */
void report_head(void);
void report_line(const struct result *result, const struct limits *limits);

/* Writes all, as plot.py and peers.py read it; false, after saying why, if it
 * cannot. */
bool report_json(const char *path, const struct result *results, int count,
                 const struct limits *limits);

/* The shapes of the cases, for peers.py: all but those whose groups differ in
 * n or k. */
void report_cases(const struct gemm_case *const *list, int count);

#endif
