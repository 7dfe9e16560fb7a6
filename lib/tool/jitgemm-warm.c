/* SPDX-License-Identifier: MIT */
/* jitgemm-warm: compiles the kernels of given problems into the cache, ahead
 * of the program that needs them; with --arch, on a machine without a GPU. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <getopt.h>
#include <jitgemm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "kernel_list.h"
#include "problem_list.h"
#include "prune.h"
#include "report.h"

enum {
    EXIT_MISSING = 1, /* a kernel is not there */
    EXIT_USAGE = 2,   /* nothing was done */
    MAX_JOBS = 1024
};

struct settings {
    char **archs; /* in order; none: the GPUs present */
    size_t arch_count, arch_capacity;
    struct problem_list problems;
    char *cache_dir;
    size_t jobs; /* 0: choose */
    bool problems_given, json, list, prune, dry;
};

struct contexts {
    jitgemm_context **items;
    size_t count, capacity;
};

static const char help[] =
    "Usage: jitgemm-warm [option...] --problem M[,M...]xNxK...\n"
    "       jitgemm-warm [--cache-dir DIR] --prune[=dry]\n"
    "\n"
    "Compiles the kernels that grouped NVFP4 GEMMs of these sizes need, and\n"
    "puts them into the cache of libjitgemm.\n"
    "\n"
    "  --problem M[,M...]xNxK  one group for each M, all with this N and K\n"
    "  --file LIST             a problem a line; # starts a comment; - is\n"
    "                          standard input\n"
    "  --arch ARCH[,ARCH...]   for these GPU architectures, such as sm_90a,\n"
    "                          whatever GPU is here; default: the GPUs here\n"
    "  --cache-dir DIR         cache in DIR; default: the library's choice\n"
    "  --jobs N                prepare N kernels at a time; default: the\n"
    "                          number of processors, at most 4\n"
    "  --list                  only print the kernels needed\n"
    "  --prune[=dry]           bring the cache down to its limit, those used\n"
    "                          least recently first; dry: say what would go\n"
    "  --json                  print a JSON object a line for each kernel\n"
    "  --help                  print this and exit\n"
    "  --version               print the version and exit\n"
    "\n"
    "Exit status: 0 if every kernel is there, 1 if one is missing or the\n"
    "cache cannot be pruned, 2 if the options or a list are wrong and\n"
    "nothing was done.\n";

static bool add_archs(struct settings *settings, const char *names)
{
    for (;;) {
        size_t length = strcspn(names, ","), capacity = 0;
        char *arch;

        if (!length) {
            complain("--arch: an empty name");
            return false;
        }
        arch = grow(NULL, &capacity, length + 1, 1);
        memcpy(arch, names, length);
        arch[length] = '\0';
        settings->archs =
            grow(settings->archs, &settings->arch_capacity,
                 settings->arch_count + 1, sizeof *settings->archs);
        settings->archs[settings->arch_count++] = arch;
        if (!names[length])
            return true;
        names += length + 1;
    }
}

static bool set_jobs(struct settings *settings, const char *text)
{
    char *end;
    unsigned long jobs;

    errno = 0;
    jobs = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || !jobs ||
        jobs > MAX_JOBS) {
        complain("--jobs: \"%s\" is not a number from 1 to %d", text,
                 MAX_JOBS);
        return false;
    }
    settings->jobs = jobs;
    return true;
}

static bool set_cache_dir(struct settings *settings, const char *path)
{
    if (!*path) {
        complain("--cache-dir: an empty name");
        return false;
    }
    free(settings->cache_dir);
    settings->cache_dir = absolute_path(path);
    return true;
}

static bool set_prune(struct settings *settings, const char *how)
{
    if (how && strcmp(how, "dry") != 0) {
        complain("--prune: \"%s\" is not dry", how);
        return false;
    }
    settings->prune = true;
    settings->dry = how != NULL;
    return true;
}

static void print_version(void)
{
    uint32_t library = jitgemm_version();

    printf("jitgemm-warm %d.%d.%d, library %u.%u.%u\n", JITGEMM_VERSION_MAJOR,
           JITGEMM_VERSION_MINOR, JITGEMM_VERSION_PATCH,
           (unsigned)(library / 10000), (unsigned)(library / 100 % 100),
           (unsigned)(library % 100));
}

/* Past every character, which getopt_long() gives for short options. */
enum option_number {
    OPTION_PROBLEM = 256,
    OPTION_FILE,
    OPTION_ARCH,
    OPTION_CACHE_DIR,
    OPTION_JOBS,
    OPTION_LIST,
    OPTION_PRUNE,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"problem", required_argument, NULL, OPTION_PROBLEM},
    {"file", required_argument, NULL, OPTION_FILE},
    {"arch", required_argument, NULL, OPTION_ARCH},
    {"cache-dir", required_argument, NULL, OPTION_CACHE_DIR},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"list", no_argument, NULL, OPTION_LIST},
    {"prune", optional_argument, NULL, OPTION_PRUNE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* Says what is wrong with the option that getopt_long() has just refused. */
static bool refuse_option(int result, char **argv)
{
    const char *word = argv[optind - 1];

    if (result == ':')
        complain("%s needs an argument", word);
    else if (!optopt)
        complain("unknown or ambiguous option %s", word);
    else if (optopt < OPTION_PROBLEM)
        complain("unknown option -%c", optopt);
    else
        complain("%.*s takes no argument", (int)strcspn(word, "="), word);
    return false;
}

/* False after a message. --help and --version end the program. */
static bool set_option(struct settings *settings, int option, char **argv)
{
    switch (option) {
    case OPTION_PROBLEM:
        settings->problems_given = true;
        return problem_list_add(&settings->problems, optarg);
    case OPTION_FILE:
        settings->problems_given = true;
        return problem_list_read(&settings->problems, optarg);
    case OPTION_ARCH:
        return add_archs(settings, optarg);
    case OPTION_CACHE_DIR:
        return set_cache_dir(settings, optarg);
    case OPTION_JOBS:
        return set_jobs(settings, optarg);
    case OPTION_LIST:
        settings->list = true;
        return true;
    case OPTION_PRUNE:
        return set_prune(settings, optarg);
    case OPTION_JSON:
        settings->json = true;
        return true;
    case OPTION_HELP:
        fputs(help, stdout);
        exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
    case OPTION_VERSION:
        print_version();
        exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
    default:
        return refuse_option(option, argv);
    }
}

static bool read_options(struct settings *settings, int argc, char **argv)
{
    int option;

    opterr = 0; /* our messages do not depend on argv[0] */
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
        if (!set_option(settings, option, argv))
            return false;
    if (optind < argc) {
        complain("unexpected argument \"%s\"", argv[optind]);
        return false;
    }
    if (!settings->problems_given && !settings->prune) {
        complain("no problem: give --problem or --file");
        return false;
    }
    if (settings->prune && (settings->problems_given || settings->arch_count ||
                            settings->list || settings->json)) {
        complain("--prune goes with --cache-dir only");
        return false;
    }
    return true;
}

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
        .cache_dir = settings->list ? "" : settings->cache_dir,
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
    kernel_list_start(list, settings->jobs ? settings->jobs : default_jobs());
    while (shown < list->count) {
        done = kernel_list_wait(list, done);
        report_progress_clear(report);
        while (shown < list->count && kernel_list_is_done(list, shown))
            report_kernel(report, &list->jobs[shown++]);
        report_progress(report, done, list->count);
    }
    kernel_list_finish(list);
}

static bool warm(const struct settings *settings)
{
    struct report report = {
        .json = settings->json,
        .bar = !settings->json && !settings->list && isatty(STDERR_FILENO),
    };
    struct kernel_list list = {0};
    struct contexts contexts = {0};
    double start = now_ms();
    bool good = settings->arch_count
                    ? add_named(&list, &contexts, settings, &report)
                    : add_present(&list, &contexts, settings, &report);

    if (settings->list) {
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
    return good;
}

static int run(const struct settings *settings)
{
    bool good = settings->prune ? prune(settings->cache_dir, settings->dry)
                                : warm(settings);

    if (fflush(stdout) || ferror(stdout)) {
        complain("cannot write to standard output");
        good = false;
    }
    return good ? EXIT_SUCCESS : EXIT_MISSING;
}

int main(int argc, char **argv)
{
    struct settings settings = {0};
    int result = EXIT_USAGE;

    if (read_options(&settings, argc, argv))
        result = run(&settings);
    else
        fputs("Try \"jitgemm-warm --help\".\n", stderr);
    problem_list_free(&settings.problems);
    while (settings.arch_count)
        free(settings.archs[--settings.arch_count]);
    free(settings.archs);
    free(settings.cache_dir);
    return result;
}
