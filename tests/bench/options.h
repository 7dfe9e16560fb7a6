/* SPDX-License-Identifier: MIT */
/* What the benchmark is asked for. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

#include "cases.h"
#include "plan.h"

enum { MOST_CASES = 128, MOST_RUNS = 32 };

struct options {
    const struct gemm_case *cases[MOST_CASES];
    int case_count;
    int runs;
    const char *json; /* or NULL */
    bool cases_only;
    uint32_t flags; /* of the problem */
    jitgemm_input a_type;
    jitgemm_weights b_type;
    jitgemm_type c_type;
    bool configured; /* instead of the plan's choice: */
    struct jg_config config;
};

/* Of main()'s arguments; calls timing_tiny() if asked to. False, after saying
 * how it is done, if they are no good. */
bool options_read(char **arguments, struct options *options);

#endif
