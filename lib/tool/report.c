/* SPDX-License-Identifier: MIT */
/* Text and JSON lines. */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "common.h"
#include "json.h"

enum { BAR_WIDTH = 40 };

static const char *const source_names[] = {
    [JITGEMM_SOURCE_NONE] = "none",         [JITGEMM_SOURCE_MEMORY] = "memory",
    [JITGEMM_SOURCE_PACK] = "pack",         [JITGEMM_SOURCE_DISK] = "disk",
    [JITGEMM_SOURCE_COMPILED] = "compiled",
};

/* What --list and a finished kernel have in common: no closing brace. */
static void put_json_kernel(const jitgemm_kernel *kernel)
{
    putchar('{');
    json_field("key", kernel->key);
    putchar(',');
    json_field("arch", kernel->arch);
    putchar(',');
    json_field("name", kernel->name);
}

/* JSON has no infinities and no NaN; text has no use for them. */
static double milliseconds(const jitgemm_kernel *kernel)
{
    return kernel->ms >= 0 && kernel->ms < 1e12 ? kernel->ms : 0;
}

void report_need(const struct report *report, const jitgemm_kernel *kernel)
{
    if (report->json) {
        put_json_kernel(kernel);
        puts("}");
    } else {
        printf("%s  %-8s  %s\n", kernel->key, kernel->arch, kernel->name);
    }
}

static void put_json_done(const struct kernel_job *job, const char *source)
{
    put_json_kernel(&job->kernel);
    if (job->error) {
        fputs(",\"source\":null,\"ms\":null,", stdout);
        json_field("error", job->error);
    } else {
        putchar(',');
        json_field("source", source);
        printf(",\"ms\":%.3f", milliseconds(&job->kernel));
    }
    puts("}");
}

static void put_text_done(const struct kernel_job *job, const char *source)
{
    const jitgemm_kernel *kernel = &job->kernel;

    if (job->error)
        printf("%-8s  %11s", "failed", "-");
    else
        printf("%-8s  %8.1f ms", source, milliseconds(kernel));
    printf("  %-8s  %s  %s\n", kernel->arch, kernel->key, kernel->name);
    fflush(stdout);
    if (job->error)
        complain("%s: %s: %s", kernel->arch, kernel->name, job->error);
}

void report_kernel(struct report *report, const struct kernel_job *job)
{
    jitgemm_source source = job->kernel.source;

    if (source > JITGEMM_SOURCE_COMPILED) /* of a later library */
        source = JITGEMM_SOURCE_NONE;
    if (job->error)
        report->failed++;
    else
        report->sources[source]++;
    if (report->json)
        put_json_done(job, source_names[source]);
    else
        put_text_done(job, source_names[source]);
    fflush(stdout);
}

void report_progress(const struct report *report, size_t done, size_t count)
{
    char bar[BAR_WIDTH + 1];

    if (!report->bar || done >= count)
        return;
    memset(bar, '-', BAR_WIDTH);
    memset(bar, '#', done * BAR_WIDTH / count);
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %zu/%zu", bar, done, count);
}

void report_progress_clear(const struct report *report)
{
    if (report->bar)
        fputs("\r\033[K", stderr);
}

void report_summary(const struct report *report, double ms,
                    const char *cache_dir)
{
    static const struct {
        jitgemm_source source;
        bool always; /* even if there is none */
        const char *text;
    } parts[] = {
        {JITGEMM_SOURCE_COMPILED, true, " compiled,"},
        {JITGEMM_SOURCE_DISK, true, " from disk,"},
        {JITGEMM_SOURCE_PACK, false, " from a pack,"},
        {JITGEMM_SOURCE_MEMORY, false, " from memory,"},
        {JITGEMM_SOURCE_NONE, false, " from elsewhere,"},
    };
    size_t count = report->failed;

    if (report->json)
        return;
    for (size_t i = 0; i <= JITGEMM_SOURCE_COMPILED; i++)
        count += report->sources[i];
    printf("%zu kernel%s:", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t n = report->sources[parts[i].source];

        if (n || parts[i].always)
            printf(" %zu%s", n, parts[i].text);
    }
    printf(" %zu failed; %.0f ms", report->failed, ms);
    if (cache_dir)
        printf("; cache %s", cache_dir);
    putchar('\n');
}
