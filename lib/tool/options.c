/* SPDX-License-Identifier: MIT */
/* Options. */
#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <getopt.h>
#include <jitgemm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "help.h"
#include "model_list.h"
#include "option_rules.h"
#include "text.h"

enum { MAX_JOBS = 1024, MAX_TP = 1024 };

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

static bool set_number(const char *option, const char *text, int64_t most,
                       int64_t *number)
{
    const char *end = text;

    if (!text_number(&end, number) && !*end && *number >= 1 &&
        *number <= most)
        return true;
    complain("%s: \"%s\" is not a number from 1 to %d", option, text,
             (int)most);
    return false;
}

static bool add_model(struct settings *settings, const char *name)
{
    settings->problems_given = true;
    settings->models =
        grow(settings->models, &settings->model_capacity,
             settings->model_count + 1, sizeof *settings->models);
    settings->models[settings->model_count++] = name;
    return true;
}

/* A type by its name, and its number in the library. */
struct type {
    const char *name;
    int number;
};

static const struct type a_types[] = {
    {"nvfp4", JITGEMM_INPUT_NVFP4},
    {"f16", JITGEMM_INPUT_F16},
    {"bf16", JITGEMM_INPUT_BF16},
};
static const struct type b_types[] = {
    {"nvfp4", JITGEMM_WEIGHTS_NVFP4},
    {"mxfp4", JITGEMM_WEIGHTS_MXFP4},
};
static const struct type c_types[] = {
    {"f16", JITGEMM_F16},
    {"bf16", JITGEMM_BF16},
    {"f32", JITGEMM_F32},
};

/* Of two or three. */
static bool set_type(struct settings *settings, const char *option,
                     const struct type *types, size_t count, const char *name,
                     int *type)
{
    bool three = count == 3;

    settings->types_given = true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(types[i].name, name) == 0) {
            *type = types[i].number;
            return true;
        }
    complain("%s: \"%s\" is not %s%s%s or %s", option, name, types[0].name,
             three ? ", " : "", three ? types[1].name : "",
             types[count - 1].name);
    return false;
}

static bool set_flag(struct settings *settings, uint32_t flag)
{
    settings->types_given = true;
    settings->flags |= flag;
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

static bool set_verb(struct settings *settings, enum verb verb)
{
    if (settings->verb && settings->verb != verb) {
        complain("one of --list, --tune, --explain, --verify, --diff, "
                 "--export, --import, --merge and --prune at a time");
        return false;
    }
    settings->verb = verb;
    return true;
}

static bool set_verify(struct settings *settings, const char *how)
{
    if (how && strcmp(how, "rebuild") != 0) {
        complain("--verify: \"%s\" is not \"rebuild\"", how);
        return false;
    }
    settings->rebuild |= how != NULL;
    return set_verb(settings, VERB_VERIFY);
}

static bool set_prune(struct settings *settings, const char *how)
{
    if (how && strcmp(how, "dry") != 0) {
        complain("--prune: \"%s\" is not \"dry\"", how);
        return false;
    }
    settings->dry |= how != NULL;
    return set_verb(settings, VERB_PRUNE);
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
    OPTION_MODEL,
    OPTION_TOKENS,
    OPTION_TP,
    OPTION_A,
    OPTION_B,
    OPTION_C,
    OPTION_ROW_A,
    OPTION_ROW_C,
    OPTION_SPLIT_K,
    OPTION_ACCUMULATE,
    OPTION_ZERO_TAIL,
    OPTION_SM_LIMIT,
    OPTION_CONVERSION,
    OPTION_FILE,
    OPTION_ARCH,
    OPTION_CACHE_DIR,
    OPTION_JOBS,
    OPTION_LIST,
    OPTION_TUNE,
    OPTION_EXPLAIN,
    OPTION_VERIFY,
    OPTION_DIFF,
    OPTION_EXPORT,
    OPTION_IMPORT,
    OPTION_MERGE,
    OPTION_PRUNE,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"problem", required_argument, NULL, OPTION_PROBLEM},
    {"model", required_argument, NULL, OPTION_MODEL},
    {"tokens", required_argument, NULL, OPTION_TOKENS},
    {"tp", required_argument, NULL, OPTION_TP},
    {"a", required_argument, NULL, OPTION_A},
    {"b", required_argument, NULL, OPTION_B},
    {"c", required_argument, NULL, OPTION_C},
    {"row-a", required_argument, NULL, OPTION_ROW_A},
    {"row-c", required_argument, NULL, OPTION_ROW_C},
    {"split-k", no_argument, NULL, OPTION_SPLIT_K},
    {"accumulate", no_argument, NULL, OPTION_ACCUMULATE},
    {"zero-tail", no_argument, NULL, OPTION_ZERO_TAIL},
    {"sm-limit", required_argument, NULL, OPTION_SM_LIMIT},
    {"conversion", required_argument, NULL, OPTION_CONVERSION},
    {"file", required_argument, NULL, OPTION_FILE},
    {"arch", required_argument, NULL, OPTION_ARCH},
    {"cache-dir", required_argument, NULL, OPTION_CACHE_DIR},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"list", no_argument, NULL, OPTION_LIST},
    {"tune", no_argument, NULL, OPTION_TUNE},
    {"explain", no_argument, NULL, OPTION_EXPLAIN},
    {"verify", optional_argument, NULL, OPTION_VERIFY},
    {"diff", no_argument, NULL, OPTION_DIFF},
    {"export", no_argument, NULL, OPTION_EXPORT},
    {"import", no_argument, NULL, OPTION_IMPORT},
    {"merge", no_argument, NULL, OPTION_MERGE},
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

/* An option on what kernels are for. */
static bool set_wanted(struct settings *settings, int option, char **argv)
{
    switch (option) {
    case OPTION_PROBLEM:
        settings->problems_given = true;
        return problem_list_add(&settings->problems, NULL, optarg);
    case OPTION_FILE:
        settings->problems_given = true;
        return problem_list_read(&settings->problems, optarg);
    case OPTION_CONVERSION:
        settings->problems_given = settings->conversions_given = true;
        return problem_list_convert(&settings->problems, NULL, optarg);
    case OPTION_MODEL:
        return add_model(settings, optarg);
    case OPTION_TOKENS:
        settings->tokens = optarg;
        return true;
    case OPTION_TP:
        return set_number("--tp", optarg, MAX_TP, &settings->tp);
    case OPTION_A:
        return set_type(settings, "--a", a_types, 3, optarg,
                        &settings->a_type);
    case OPTION_B:
        return set_type(settings, "--b", b_types, 2, optarg,
                        &settings->b_type);
    case OPTION_C:
        return set_type(settings, "--c", c_types, 3, optarg,
                        &settings->c_type);
    case OPTION_ROW_A:
        settings->types_given = true;
        return set_number("--row-a", optarg, INT32_MAX, &settings->row_a);
    case OPTION_ROW_C:
        settings->types_given = true;
        return set_number("--row-c", optarg, INT32_MAX, &settings->row_c);
    case OPTION_SPLIT_K:
        return set_flag(settings, JITGEMM_ALLOW_SPLIT_K);
    case OPTION_ACCUMULATE:
        return set_flag(settings, JITGEMM_ACCUMULATE);
    case OPTION_ZERO_TAIL:
        return set_flag(settings, JITGEMM_ZERO_TAIL);
    case OPTION_SM_LIMIT:
        settings->types_given = true;
        return set_number("--sm-limit", optarg, INT32_MAX,
                          &settings->sm_limit);
    case OPTION_ARCH:
        return add_archs(settings, optarg);
    case OPTION_JOBS:
        return set_number("--jobs", optarg, MAX_JOBS, &settings->jobs);
    default:
        return refuse_option(option, argv);
    }
}

/* False after a message. --help and --version end the program. */
static bool set_option(struct settings *settings, int option, char **argv)
{
    switch (option) {
    case OPTION_CACHE_DIR:
        return set_cache_dir(settings, optarg);
    case OPTION_LIST:
        return set_verb(settings, VERB_LIST);
    case OPTION_TUNE:
        return set_verb(settings, VERB_TUNE);
    case OPTION_EXPLAIN:
        return set_verb(settings, VERB_EXPLAIN);
    case OPTION_VERIFY:
        return set_verify(settings, optarg);
    case OPTION_DIFF:
        return set_verb(settings, VERB_DIFF);
    case OPTION_EXPORT:
        return set_verb(settings, VERB_EXPORT);
    case OPTION_IMPORT:
        return set_verb(settings, VERB_IMPORT);
    case OPTION_MERGE:
        return set_verb(settings, VERB_MERGE);
    case OPTION_PRUNE:
        return set_prune(settings, optarg);
    case OPTION_JSON:
        settings->json = true;
        return true;
    case OPTION_HELP:
        printf("%s%s%s", help_usage, help_problems, help_options);
        exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
    case OPTION_VERSION:
        print_version();
        exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
    default:
        return set_wanted(settings, option, argv);
    }
}

bool options_read(struct settings *settings, int argc, char **argv)
{
    int option;

    settings->a_type = settings->b_type = PROBLEM_LIST_UNTOLD;
    opterr = 0; /* our messages do not depend on argv[0] */
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
        if (!set_option(settings, option, argv))
            return false;
    settings->operands = argv + optind;
    settings->operand_count = (size_t)(argc - optind);
    if (!option_rules_check(settings))
        return false;
    for (size_t i = 0; i < settings->model_count; i++)
        if (!model_list_add(&settings->problems, settings->models[i],
                            settings->tokens, settings->tp ? settings->tp : 1))
            return false;
    problem_list_set(&settings->problems,
                     &(jitgemm_problem){
                         .flags = settings->flags,
                         .a_type = (jitgemm_input)settings->a_type,
                         .b_type = (jitgemm_weights)settings->b_type,
                         .c_type = (jitgemm_type)settings->c_type,
                         .sm_limit = (int32_t)settings->sm_limit,
                         .row_a = settings->row_a,
                         .row_c = settings->row_c,
                     });
    /* Of conversions there is nothing to choose. */
    return settings->verb == VERB_TUNE || settings->verb == VERB_EXPLAIN ||
           model_list_convert(&settings->problems);
}

void options_free(struct settings *settings)
{
    problem_list_free(&settings->problems);
    while (settings->arch_count)
        free(settings->archs[--settings->arch_count]);
    free(settings->archs);
    free(settings->models);
    free(settings->cache_dir);
}
