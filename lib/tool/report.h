/* SPDX-License-Identifier: MIT */
/* What the tool prints: a line a kernel, as text or JSON; a progress bar on
 * a terminal; a summary. All of it by one thread. */
#ifndef JITGEMM_WARM_REPORT_H
#define JITGEMM_WARM_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel_list.h"

struct report {
    bool json; /* JSON lines and nothing else on stdout */
    bool bar;  /* stderr is a terminal that shows progress */
    size_t sources[JITGEMM_SOURCE_COMPILED + 1];
    size_t failed; /* these two count the calls of report_kernel() */
};

/* A kernel that is needed, for --list. */
void report_need(const struct report *report, const jitgemm_kernel *kernel);

/* A kernel that is done: its line, or the error on stderr. */
void report_kernel(struct report *report, const struct kernel_job *job);

void report_progress(const struct report *report, size_t done, size_t count);
void report_progress_clear(const struct report *report);

/* The last line; `cache_dir` may be NULL. Nothing in JSON. */
void report_summary(const struct report *report, double ms,
                    const char *cache_dir);

#endif
