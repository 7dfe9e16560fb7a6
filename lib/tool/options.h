/* SPDX-License-Identifier: MIT */
/* What the command line asks for. */
#ifndef JITGEMM_WARM_OPTIONS_H
#define JITGEMM_WARM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problem_list.h"

enum {
    EXIT_MISSING = 1, /* a kernel, entry or file is not there */
    EXIT_USAGE = 2,   /* nothing was done */
    EXIT_BAD = 3      /* something is there and bad */
};

enum verb {
    VERB_WARM, /* unless another is named */
    VERB_LIST,
    VERB_TUNE,
    VERB_EXPLAIN, /* those after it take no problems */
    VERB_VERIFY,
    VERB_DIFF,
    VERB_EXPORT,
    VERB_IMPORT,
    VERB_MERGE,
    VERB_PRUNE
};

struct settings { /* all zero before options_read() */
    enum verb verb;
    char **archs; /* in order; none: the GPUs present */
    size_t arch_count, arch_capacity;
    struct problem_list problems;
    char *cache_dir; /* NULL: the library's choice */
    char **operands; /* of the verbs but VERB_WARM */
    size_t operand_count;
    const char **models;
    size_t model_count, model_capacity;
    const char *tokens; /* of all models */
    int64_t tp;         /* likewise; 0: 1 */
    int64_t jobs;       /* 0: choose */
    int a_type, b_type; /* of all problems, or PROBLEM_LIST_UNTOLD */
    int c_type;         /* jitgemm_type, likewise */
    uint32_t flags;     /* likewise, as is the rest */
    int64_t row_a, row_c, sm_limit;
    bool problems_given, conversions_given, types_given, json, rebuild, dry;
};

/* False after a message. --help and --version end the program. */
bool options_read(struct settings *settings, int argc, char **argv);
void options_free(struct settings *settings);

#endif
