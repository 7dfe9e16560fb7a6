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

    complain("%s, character %zu: %s; the form is M[,M...]xNxK", name,
             offset + 1, rule);
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

/* Reads text into *m (grown as needed, *groups of them), *n and *k. NULL, or
 * the rule broken at *at. */
static const char *read_problem(const char **at, int64_t **m, size_t *groups,
                                int64_t *n, int64_t *k)
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
    if (**at != 'x')
        return "expected \",\" or \"x\"";
    ++*at;
    if ((rule = read_number(at, n)))
        return rule;
    if (**at != 'x')
        return "expected \"x\"";
    ++*at;
    if ((rule = read_number(at, k)))
        return rule;
    return **at ? "expected the end" : NULL;
}

static bool add(struct problem_list *list, const struct origin *origin,
                const char *text)
{
    struct named_problem *item;
    const char *at = text, *rule;
    size_t groups = 0, capacity = 0;
    int64_t *m = NULL, n, k;

    if ((rule = read_problem(&at, &m, &groups, &n, &k))) {
        free(m);
        return reject(origin, text, at, rule);
    }
    list->items = grow(list->items, &list->capacity, list->count + 1,
                       sizeof *list->items);
    item = &list->items[list->count++];
    memset(item, 0, sizeof *item);
    item->where = name_problem(origin, text, 0);
    item->sizes = grow(NULL, &capacity, 3 * groups, sizeof *item->sizes);
    for (size_t g = 0; g < groups; g++) {
        item->sizes[g] = m[g];
        item->sizes[groups + g] = n;
        item->sizes[2 * groups + g] = k;
    }
    item->problem.size = sizeof item->problem;
    item->problem.groups = (int32_t)groups;
    item->problem.m = item->sizes;
    item->problem.n = item->sizes + groups;
    item->problem.k = item->sizes + 2 * groups;
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
