/* SPDX-License-Identifier: MIT */
/* Errors and log lines. The first function that knows of an error records it
 * with jg_fail*(); everyone above only passes the status on. */
#ifndef JG_STATUS_H
#define JG_STATUS_H

#include "jitgemm.h"

#if defined __GNUC__
#define JG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define JG_PRINTF(text, first)
#endif

/* Starts this thread's error record afresh and returns `status`. */
jitgemm_status jg_fail(jitgemm_status status, const char *format, ...)
    JG_PRINTF(2, 3);

/* Likewise for a caller's mistake. `argument` is a string literal; group -1
 * means none. */
jitgemm_status jg_fail_argument(jitgemm_status status, const char *argument,
                                int32_t group, int64_t got, int64_t want,
                                const char *format, ...) JG_PRINTF(6, 7);

/* The record of this thread, to add the cause to it or to copy it to another
 * thread. */
jitgemm_error *jg_error(void);

/* Where log lines go. A null pointer or level 0 drops them. */
struct jg_log {
    jitgemm_log_fn function;
    void *user;
    int level;
};

void jg_log(const struct jg_log *log, int level, const char *format, ...)
    JG_PRINTF(3, 4);

#endif
