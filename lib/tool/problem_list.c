/* SPDX-License-Identifier: MIT */
/* Collects problems. What is wrong is said with the text, the place in it, and
 * the rule, since lists are often written by other programs. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "problem_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "problem_text.h"

enum {
    QUOTE_BEFORE = 40, /* bytes of a long text shown before the fault */
    QUOTE_BYTES = 64   /* and in all */
};

/* What to call a text in messages: what it is and where it comes from, unless
 * that is NULL, and the text, or the part of it around `at`, fit for a
 * terminal. */
static char *name(const char *origin, const char *what, const char *text,
                  size_t at)
{
    size_t start = at > QUOTE_BEFORE ? at - QUOTE_BEFORE : 0;
    char quote[QUOTE_BYTES + 1];
    size_t length = 0, capacity = 0, bytes;
    char *made;

    for (; length < QUOTE_BYTES && text[start + length]; length++) {
        char c = text[start + length];

        quote[length] = c >= ' ' && c <= '~' ? c : '?';
    }
    quote[length] = '\0';
    bytes = (origin ? strlen(origin) : 0) + sizeof quote + 64;
    made = grow(NULL, &capacity, bytes, 1);
    snprintf(made, bytes, "%s%s%s \"%s%s%s\"", origin ? origin : "",
             origin ? ": " : "", what, start ? "..." : "", quote,
             text[start + length] ? "..." : "");
    return made;
}

static bool reject(const char *origin, const char *what, const char *text,
                   const char *at, const char *rule, const char *form)
{
    size_t offset = (size_t)(at - text);
    char *where = name(origin, what, text, offset);

    complain("%s, character %zu: %s; the form is %s", where, offset + 1, rule,
             form);
    free(where);
    return false;
}

static bool append(struct problem_list *list, struct named_problem item)
{
    list->items = grow(list->items, &list->capacity, list->count + 1,
                       sizeof *list->items);
    list->items[list->count++] = item;
    return true;
}

bool problem_list_add(struct problem_list *list, const char *origin,
                      const char *text)
{
    struct named_problem item = {.where = NULL};
    const char *at, *rule;

    rule = problem_text_read(text, &at, &item.problem, &item.sizes);
    if (rule)
        return reject(origin, "problem", text, at, rule,
                      strchr(text, '@') ? "GROUPS@MAX/TYPICALxNxK:LAYOUT:PLACE"
                                        : "M[,M...]xNxK");
    item.where = name(origin, "problem", text, 0);
    return append(list, item);
}

bool problem_list_convert(struct problem_list *list, const char *origin,
                          const char *text)
{
    struct named_problem item = {.where = NULL};
    const char *at, *rule = conversion_text_read(text, &at, &item.conversion);

    if (rule)
        return reject(origin, "conversion", text, at, rule,
                      "TYPE+STEP:LAYOUT:PLACE:ORDER");
    item.where = name(origin, "conversion", text, 0);
    return append(list, item);
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
    const char *name = standard ? "standard input" : path;
    size_t origin_bytes = strlen(name) + 32, capacity = 0;
    char *origin = NULL, *line = NULL;
    ssize_t length;

    if (!file) {
        complain("cannot read %s: %s", path, strerror(errno));
        return false;
    }
    origin = grow(NULL, &capacity, origin_bytes, 1);
    capacity = 0;
    for (unsigned long number = 1;
         good && (length = getline(&line, &capacity, file)) >= 0; number++) {
        snprintf(origin, origin_bytes, "%s:%lu", name, number);
        if (memchr(line, '\0', (size_t)length)) {
            complain("%s: a NUL byte: not a text file", origin);
            good = false;
        } else {
            char *text = strip(line);

            good = !*text || problem_list_add(list, origin, text);
        }
    }
    if (good && ferror(file)) {
        complain("cannot read %s: %s", name, strerror(errno));
        good = false;
    }
    free(origin);
    free(line);
    if (!standard)
        fclose(file);
    return good;
}

void problem_list_set(struct problem_list *list,
                      const jitgemm_problem *common)
{
    for (size_t i = 0; i < list->count; i++) {
        jitgemm_problem *problem = &list->items[i].problem;

        if ((int)common->b_type != PROBLEM_LIST_UNTOLD)
            problem->b_type = common->b_type;
        problem->a_type = problem->b_type == JITGEMM_WEIGHTS_MXFP4
                              ? JITGEMM_INPUT_BF16
                              : JITGEMM_INPUT_NVFP4;
        if ((int)common->a_type != PROBLEM_LIST_UNTOLD)
            problem->a_type = common->a_type;
        problem->c_type = common->c_type;
        problem->flags = common->flags;
        problem->sm_limit = common->sm_limit;
        problem->row_a = common->row_a;
        problem->row_c = common->row_c;
    }
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
