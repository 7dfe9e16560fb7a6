/* SPDX-License-Identifier: MIT */
/* Values may have many lines: those are printed that only one of them has. */
#include "entry_diff.h"

#include <jitgemm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "json.h"
#include "options.h"

struct found { /* the entry that a text was found to mean */
    const char *prefix;
    char *key;     /* NULL: none yet */
    char **fields; /* name, value, name, ... */
    size_t count;
    bool bad, ambiguous;
};

static void take(struct found *found, const jitgemm_entry *entry)
{
    size_t capacity = 0, fields = (size_t)entry->field_count;

    if (strncmp(entry->key, found->prefix, strlen(found->prefix)) != 0)
        return;
    if (entry->state == JITGEMM_ENTRY_BAD) {
        complain("%s: %s", entry->key, entry->why);
        found->bad = true;
        return;
    }
    if (found->key) { /* the same key elsewhere has the same fields */
        found->ambiguous |= strcmp(found->key, entry->key) != 0;
        return;
    }
    found->key = copy_text(entry->key);
    found->fields = grow(NULL, &capacity, 2 * fields + 1, sizeof(char *));
    for (size_t i = 0; i < fields; i++) {
        found->fields[found->count++] = copy_text(entry->fields[i].name);
        found->fields[found->count++] = copy_text(entry->fields[i].value);
    }
}

static void take_both(void *user, const jitgemm_entry *entry)
{
    struct found *found = user;

    take(&found[0], entry);
    take(&found[1], entry);
}

/* The value of a field, "" if there is none of the name. */
static const char *value_of(const struct found *found, const char *name)
{
    for (size_t i = 0; i < found->count; i += 2)
        if (strcmp(found->fields[i], name) == 0)
            return found->fields[i + 1];
    return "";
}

static bool has_line(const char *text, const char *end, const char *line,
                     size_t length)
{
    while (text < end) {
        size_t here = strcspn(text, "\n");

        if (here == length && memcmp(text, line, length) == 0)
            return true;
        text += here + 1;
    }
    return false;
}

/* The lines of a text that another has not, once each, with a sign. */
static void put_lines(char sign, const char *text, const char *other)
{
    const char *end = other + strlen(other), *line = text;

    while (*line) {
        size_t length = strcspn(line, "\n");

        if (!has_line(other, end, line, length) &&
            !has_line(text, line, line, length))
            printf("%c %.*s\n", sign, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void put_field(const char *name, const char *first, const char *second,
                      bool json)
{
    if (json) {
        putchar('{');
        json_field("field", name);
        putchar(',');
        json_field("first", first);
        putchar(',');
        json_field("second", second);
        puts("}");
        return;
    }
    puts(name);
    put_lines('-', first, second);
    put_lines('+', second, first);
}

static int check(const struct found *found)
{
    if (found->ambiguous) {
        complain("%s: more than one entry begins so", found->prefix);
        return EXIT_MISSING;
    }
    if (found->key)
        return EXIT_SUCCESS;
    if (found->bad)
        return EXIT_BAD;
    complain("%s: no such entry", found->prefix);
    return EXIT_MISSING;
}

int entry_diff(char *const keys[2], char **paths, size_t count, bool json)
{
    struct found found[2] = {{.prefix = keys[0]}, {.prefix = keys[1]}};
    int result = EXIT_SUCCESS;

    for (size_t i = 0; i < count; i++) {
        jitgemm_status status =
            jitgemm_cache_list(paths[i], 0, take_both, found);

        if (status != JITGEMM_OK) {
            complain("%s", jitgemm_last_error()->text);
            result = status == JITGEMM_E_CACHE ? EXIT_BAD : EXIT_MISSING;
        }
    }
    for (int i = 0; i < 2 && !result; i++)
        result = check(&found[i]);
    if (!result && !json)
        printf("--- %s\n+++ %s\n", found[0].key, found[1].key);
    for (size_t i = 0; i < found[0].count && !result; i += 2) {
        const char *name = found[0].fields[i], *first = found[0].fields[i + 1];
        const char *second = value_of(&found[1], name);

        if (strcmp(first, second) != 0)
            put_field(name, first, second, json);
    }
    for (int i = 0; i < 2; i++) {
        while (found[i].count)
            free(found[i].fields[--found[i].count]);
        free(found[i].fields);
        free(found[i].key);
    }
    return result;
}
