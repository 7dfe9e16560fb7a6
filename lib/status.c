/* SPDX-License-Identifier: MIT */
/* Thread-local error record and log lines. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local jitgemm_error last = {
    .size = sizeof(jitgemm_error), .group = -1
};

jitgemm_error *jg_error(void)
{
    return &last;
}

const jitgemm_error *jitgemm_last_error(void)
{
    return &last;
}

const char *jitgemm_status_string(jitgemm_status status)
{
    switch (status) {
#define STATUS_CASE(name, number, text) \
    case JITGEMM_##name:                \
        return text;
        JITGEMM_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

static void record(jitgemm_status status, const char *argument, int32_t group,
                   const char *format, va_list values) JG_PRINTF(4, 0);

static void record(jitgemm_status status, const char *argument, int32_t group,
                   const char *format, va_list values)
{
    memset(&last, 0, sizeof last);
    last.size = sizeof last;
    last.status = status;
    last.argument = argument;
    last.group = group;
    vsnprintf(last.text, sizeof last.text, format, values);
}

jitgemm_status jg_fail(jitgemm_status status, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    record(status, NULL, -1, format, values);
    va_end(values);
    return status;
}

jitgemm_status jg_fail_argument(jitgemm_status status, const char *argument,
                                int32_t group, int64_t got, int64_t want,
                                const char *format, ...)
{
    va_list values;

    va_start(values, format);
    record(status, argument, group, format, values);
    va_end(values);
    last.got = got;
    last.want = want;
    return status;
}

void jg_log(const struct jg_log *log, int level, const char *format, ...)
{
    char line[1024];
    va_list values;

    if (!log || !log->function || level > log->level)
        return;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    log->function(log->user, level, line);
}
