/* SPDX-License-Identifier: MIT */
/* How everything here is timed: CUDA graphs that rotate through more operands
 * than the L2 holds. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much work a figure is worth. */
struct effort {
    int least_sets; /* of operands, and more to rotate so many bytes: */
    double rotated_bytes;
    int replays;
    double graph_us;   /* a graph runs about as long */
    size_t read_bytes; /* to measure the bandwidth with */
    int64_t square;    /* m, n and k to measure the rate with */
};

/* What a GPU deserves, unless timing_tiny() has been called: on the emulated
 * device the figures mean nothing, and one of each will do. */
extern const struct effort *effort;
void timing_tiny(void);

enum { TIMING_SETS = 256 }; /* at most */

/* How many sets of operands of so many bytes to rotate through. */
int timing_sets(double bytes);

struct times {
    double median, low, high, best; /* us of one launch; low to high: without
                                       the tenth at either end */
};

/* Puts the work on a set of operands into gpu.stream; false if it cannot. */
typedef bool (*launch_fn)(void *user, int set);

/* False if a launch failed or cannot be captured. All must have been launched
 * before. */
bool timing_measure(launch_fn launch, void *user, int sets,
                    struct times *times);

int timing_compare(const void *a, const void *b); /* doubles, for qsort() */

#endif
