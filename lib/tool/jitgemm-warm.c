/* SPDX-License-Identifier: MIT */
/* jitgemm-warm: compiles the kernels of given problems into the cache, ahead
 * of the program that needs them; with --arch, on a machine without a GPU. */
#define _POSIX_C_SOURCE 200809L

#include <jitgemm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache_verbs.h"
#include "common.h"
#include "explain.h"
#include "kernel_list.h"
#include "options.h"
#include "prune.h"
#include "report.h"

struct contexts {
    jitgemm_context **items;
    size_t count, capacity;
};

/* The cache's troubles are no errors of the library, but filling the cache is
 * what this program is for. May be called by several threads at once: one
 * call of stdio keeps a line whole. */
static void warn(void *user, int level, const char *line)
{
    const struct report *report = user;

    if (level <= JITGEMM_LOG_WARNING)
        fprintf(stderr, "%sjitgemm-warm: %s\n", report->bar ? "\r\033[K" : "",
                line);
}

/* The context stays in `contexts` until the end, for the list refers to it. */
static jitgemm_status open_context(struct contexts *contexts,
                                   const struct settings *settings,
                                   struct report *report, const char *arch,
                                   int32_t device)
{
    jitgemm_context_options options = {
        .size = sizeof options,
        .device = device,
        .arch = arch,
        .cache_dir = settings->cache_dir,
    };
    const char *log = getenv("JITGEMM_LOG");
    jitgemm_context *context;
    jitgemm_status status;

    if (!log || !*log) { /* else the library logs, and more */
        options.log_level = JITGEMM_LOG_WARNING;
        options.log = warn;
        options.log_user = report;
    }
    if ((status = jitgemm_context_create(&options, &context)))
        return status;
    contexts->items = grow(contexts->items, &contexts->capacity,
                           contexts->count + 1, sizeof *contexts->items);
    contexts->items[contexts->count++] = context;
    return JITGEMM_OK;
}

/* Adds the kernels for the architectures asked for. */
static bool add_named(struct kernel_list *list, struct contexts *contexts,
                      const struct settings *settings, struct report *report)
{
    bool good = true;

    for (size_t i = 0; i < settings->arch_count; i++) {
        const char *arch = settings->archs[i];

        if (open_context(contexts, settings, report, arch, 0)) {
            complain("%s: %s", arch, jitgemm_last_error()->text);
            good = false;
        } else if (!kernel_list_add(list, contexts->items[contexts->count - 1],
                                    arch, &settings->problems)) {
            good = false;
        }
    }
    return good;
}

/* Adds the kernels for the GPUs present. */
static bool add_present(struct kernel_list *list, struct contexts *contexts,
                        const struct settings *settings, struct report *report)
{
    bool good = true;

    for (int32_t device = 0;; device++) {
        char name[32];
        size_t before = list->count;
        jitgemm_status status =
            open_context(contexts, settings, report, NULL, device);

        if (device && status == JITGEMM_E_NO_DEVICE)
            return good;
        if (status == JITGEMM_E_NO_DEVICE || status == JITGEMM_E_NO_DRIVER) {
            complain("%s; name what to compile for with --arch",
                     jitgemm_last_error()->text);
            return false;
        }
        snprintf(name, sizeof name, "device %d", (int)device);
        if (status) {
            complain("%s: %s", name, jitgemm_last_error()->text);
            good = false;
            if (status != JITGEMM_E_ARCH)
                return false; /* no sign that there is a next device */
            continue;
        }
        if (!kernel_list_add(list, contexts->items[contexts->count - 1], name,
                             &settings->problems))
            good = false;
        if (list->count == before) /* a GPU like one before: let it go */
            jitgemm_context_destroy(contexts->items[--contexts->count]);
    }
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static size_t default_jobs(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return processors < 1 ? 1 : processors > 4 ? 4 : (size_t)processors;
}

/* Prepares every kernel and prints each as soon as those before it are. */
static void prepare(struct kernel_list *list, const struct settings *settings,
                    struct report *report)
{
    size_t shown = 0, done = 0;

    report_progress(report, 0, list->count);
    kernel_list_start(list, settings->jobs ? (size_t)settings->jobs
                                            : default_jobs());
    while (shown < list->count) {
        done = kernel_list_wait(list, done);
        report_progress_clear(report);
        while (shown < list->count && kernel_list_is_done(list, shown))
            report_kernel(report, &list->jobs[shown++]);
        report_progress(report, done, list->count);
    }
    kernel_list_finish(list);
}

static int warm(const struct settings *settings)
{
    bool list_only = settings->verb == VERB_LIST;
    struct report report = {
        .json = settings->json,
        .bar = !settings->json && !list_only && isatty(STDERR_FILENO),
    };
    struct kernel_list list = {0};
    struct contexts contexts = {0};
    double start = now_ms();
    bool good = settings->arch_count
                    ? add_named(&list, &contexts, settings, &report)
                    : add_present(&list, &contexts, settings, &report);

    if (list_only) {
        for (size_t i = 0; i < list.count; i++)
            report_need(&report, &list.jobs[i].kernel);
    } else {
        prepare(&list, settings, &report);
        if (good || list.count)
            report_summary(&report, now_ms() - start, settings->cache_dir);
        good = good && !report.failed;
    }
    kernel_list_free(&list);
    while (contexts.count)
        jitgemm_context_destroy(contexts.items[--contexts.count]);
    free(contexts.items);
    good = flush_output() && good;
    return good ? EXIT_SUCCESS : EXIT_MISSING;
}

int main(int argc, char **argv)
{
    struct settings settings = {0};
    int result = EXIT_USAGE;

    if (!options_read(&settings, argc, argv))
        fputs("Try \"jitgemm-warm --help\".\n", stderr);
    else if (settings.verb == VERB_TUNE || settings.verb == VERB_EXPLAIN)
        result = explain(&settings) && flush_output() ? EXIT_SUCCESS
                                                      : EXIT_MISSING;
    else if (settings.problems_given)
        result = warm(&settings);
    else if (settings.verb == VERB_PRUNE)
        result = prune(settings.cache_dir, settings.dry) && flush_output()
                     ? EXIT_SUCCESS
                     : EXIT_MISSING;
    else
        result = cache_verb(&settings);
    options_free(&settings);
    return result;
}
