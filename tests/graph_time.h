/* SPDX-License-Identifier: MIT */
/* How long work on the GPU takes. */
#ifndef GRAPH_TIME_H
#define GRAPH_TIME_H

/* Microseconds of one run, the median of what events say of a graph of ten
 * runs, the i-th of which is run(user, i) on gpu.stream. */
double graph_time(void (*run)(const void *user, int i), const void *user);

/* Sorts them. */
double median(double *values, int count);

#endif
