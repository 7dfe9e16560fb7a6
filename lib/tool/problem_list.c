/* SPDX-License-Identifier: MIT */
/* Reads problems. What is wrong is said with the text, the place in it, and
 * the rule, since lists are often written by other programs. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "problem_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum {
    MAX_GROUPS = 65536, /* of jitgemm_problem */
    QUOTE_BEFORE = 40,  /* bytes of a long text shown before the fault */
    QUOTE_BYTES = 64    /* and in all */
};

/* Where a text comes from: `file` is NULL for an option. */
struct origin {
    const char *file;
    unsigned long line;
};

/* The name of a problem for messages: `FILE:LINE: ` if it has one, and the
 * text, or the part of it around `at`, fit for a terminal. */
static char *name_problem(const struct origin *origin, const char *text,
                          size_t at)
{
    size_t start = at > QUOTE_BEFORE ? at - QUOTE_BEFORE : 0;
    char quote[QUOTE_BYTES + 1];
    size_t length = 0, capacity = 0, bytes;
    char *name;

    for (; length < QUOTE_BYTES && text[start + length]; length++) {
        char c = text[start + length];

        quote[length] = c >= ' ' && c <= '~' ? c : '?';
    }
    quote[length] = '\0';
    bytes = (origin->file ? strlen(origin->file) : 0) + sizeof quote + 64;
    name = grow(NULL, &capacity, bytes, 1);
    *name = '\0';
    if (origin->file)
        snprintf(name, bytes, "%s:%lu: ", origin->file, origin->line);
    snprintf(name + strlen(name), bytes - strlen(name), "problem \"%s%s%s\"",
             start ? "..." : "", quote, text[start + length] ? "..." : "");
    return name;
}

static bool reject(const struct origin *origin, const char *text,
                   const char *at, const char *rule)
{
    size_t offset = (size_t)(at - text);
    char *name = name_problem(origin, text, offset);

    complain("%s, character %zu: %s; the form is %s", name, offset + 1, rule,
             strchr(text, '@') ? "GROUPS@MAX/TYPICALxNxK:LAYOUT:PLACE"
                               : "M[,M...]xNxK");
    free(name);
    return false;
}

/* Reads digits at *at and moves past them. NULL, or the rule broken; then
 * *at is the place. strtoll() would take signs and blanks too. */
static const char *read_number(const char **at, int64_t *number)
{
    const char *p = *at;
    int64_t value = 0;

    if (*p < '0' || *p > '9')
        return "expected a number";
    for (; *p >= '0' && *p <= '9'; p++) {
        int digit = *p - '0';

        if (value > (INT64_MAX - digit) / 10)
            return "number too large";
        value = value * 10 + digit;
    }
    *at = p;
    *number = value;
    return NULL;
}

/* "xNxK". */
static const char *read_n_k(const char **at, int64_t n_k[2])
{
    const char *rule;

    for (int i = 0; i < 2; i++) {
        if (**at != 'x')
            return "expected \"x\"";
        ++*at;
        if ((rule = read_number(at, &n_k[i])))
            return rule;
    }
    return NULL;
}

/* Reads the m of all groups into *m (grown as needed, *groups of them); of
 * experts, which have an "@" behind it, their number. */
static const char *read_m(const char **at, int64_t **m, size_t *groups)
{
    size_t capacity = 0;
    const char *rule;

    for (;; ++*at) {
        if (*groups == MAX_GROUPS)
            return "more than 65536 groups";
        *m = grow(*m, &capacity, *groups + 1, sizeof **m);
        if ((rule = read_number(at, &(*m)[*groups])))
            return rule;
        ++*groups;
        if (**at != ',')
            break;
    }
    if (**at == '@' && *groups == 1)
        return **m > MAX_GROUPS ? "more than 65536 groups" : NULL;
    return **at == 'x' ? NULL : "expected \",\" or \"x\"";
}

/* ":WORD", if there is one: its number among the words. */
static const char *read_word(const char **at, const char *const *words,
                             int *number)
{
    size_t length;

    if (**at != ':')
        return NULL;
    ++*at;
    length = strcspn(*at, ":");
    for (*number = 0; words[*number]; ++*number)
        if (strlen(words[*number]) == length &&
            memcmp(words[*number], *at, length) == 0) {
            *at += length;
            return NULL;
        }
    return "unknown word";
}

/* What follows the number of experts. */
static const char *read_experts(const char **at, jitgemm_problem *problem,
                                int64_t n_k[2])
{
    static const char *const layouts[] = {"stacked", "masked", NULL};
    static const char *const places[] = {"tight",   "floor",    "ceil",
                                         "strided", "explicit", NULL};
    int layout = 0, place = 0;
    const char *rule;

    ++*at;
    problem->sizes = JITGEMM_SIZES_DEVICE;
    if ((rule = read_number(at, &problem->max_rows)))
        return rule;
    if (**at == '/') {
        ++*at;
        if ((rule = read_number(at, &problem->hint_rows)))
            return rule;
    }
    if ((rule = read_n_k(at, n_k)) ||
        (rule = read_word(at, layouts, &layout)) ||
        (rule = read_word(at, places, &place)))
        return rule;
    problem->layout = (jitgemm_layout)layout;
    problem->place = (jitgemm_place)place;
    return NULL;
}

/* Of experts m has but one element: their number. */
static void set_sizes(struct named_problem *item, int64_t *m, size_t groups,
                      const int64_t n_k[2])
{
    bool experts = item->problem.sizes == JITGEMM_SIZES_DEVICE;
    size_t capacity = 0;

    item->sizes = grow(NULL, &capacity, 3 * groups, sizeof *item->sizes);
    for (size_t g = 0; g < groups; g++) {
        item->sizes[g] = m[g];
        item->sizes[groups + g] = n_k[0];
        item->sizes[2 * groups + g] = n_k[1];
    }
    item->problem.size = sizeof item->problem;
    item->problem.groups = (int32_t)(experts ? m[0] : (int64_t)groups);
    item->problem.m = experts ? NULL : item->sizes;
    item->problem.n = item->sizes + groups;
    item->problem.k = item->sizes + 2 * groups;
}

static bool add(struct problem_list *list, const struct origin *origin,
                const char *text)
{
    struct named_problem *item;
    jitgemm_problem problem = {0};
    const char *at = text, *rule;
    size_t groups = 0;
    int64_t *m = NULL, n_k[2];

    rule = read_m(&at, &m, &groups);
    if (!rule)
        rule = *at == '@' ? read_experts(&at, &problem, n_k)
                          : read_n_k(&at, n_k);
    if (!rule && *at)
        rule = "expected the end";
    if (rule) {
        free(m);
        return reject(origin, text, at, rule);
    }
    list->items = grow(list->items, &list->capacity, list->count + 1,
                       sizeof *list->items);
    item = &list->items[list->count++];
    *item = (struct named_problem){.problem = problem,
                                   .where = name_problem(origin, text, 0)};
    set_sizes(item, m, groups, n_k);
    free(m);
    return true;
}

bool problem_list_add(struct problem_list *list, const char *text)
{
    const struct origin option = {NULL, 0};

    return add(list, &option, text);
}

/* The text of a line without comment and surrounding blanks. */
static char *strip(char *line)
{
    static const char blanks[] = " \t\r\n";
    size_t length = strcspn(line, "#");

    while (length && strchr(blanks, line[length - 1]))
        length--;
    line[length] = '\0';
    return line + strspn(line, blanks);
}

bool problem_list_read(struct problem_list *list, const char *path)
{
    bool standard = strcmp(path, "-") == 0, good = true;
    FILE *file = standard ? stdin : fopen(path, "r");
    struct origin origin = {standard ? "standard input" : path, 0};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    if (!file) {
        complain("cannot read %s: %s", path, strerror(errno));
        return false;
    }
    while (good && (length = getline(&line, &capacity, file)) >= 0) {
        origin.line++;
        if (memchr(line, '\0', (size_t)length)) {
            complain("%s:%lu: a NUL byte: not a text file", origin.file,
                     origin.line);
            good = false;
        } else {
            char *text = strip(line);

            good = !*text || add(list, &origin, text);
        }
    }
    if (good && ferror(file)) {
        complain("cannot read %s: %s", origin.file, strerror(errno));
        good = false;
    }
    free(line);
    if (!standard)
        fclose(file);
    return good;
}

void problem_list_free(struct problem_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].sizes);
        free(list->items[i].where);
    }
    free(list->items);
    memset(list, 0, sizeof *list);
}
