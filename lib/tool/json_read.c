/* SPDX-License-Identifier: MIT */
/* One pass with a function for each rule of the grammar; the same functions
 * skip values when a member is looked for. */
#include "json_read.h"

#include <string.h>

#include "text.h"
#include "utf8.h"

enum { MOST_DEPTH = 64 };

struct reader {
    const char *at;
    const char *rule; /* that is broken at `at`, or NULL */
    int depth;
};

static bool fail(struct reader *reader, const char *rule)
{
    reader->rule = rule;
    return false;
}

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\n\r");
}

/* ---- Strings, numbers, words ---- */

static bool read_escape(struct reader *reader)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    const char *at = reader->at;

    if (at[1] == 'u' && strspn(at + 2, hex) >= 4)
        reader->at += 6;
    else if (at[1] && strchr("\"\\/bfnrt", at[1]))
        reader->at += 2;
    else
        return fail(reader, "no such escape");
    return true;
}

static bool read_string(struct reader *reader)
{
    if (*reader->at != '"')
        return fail(reader, "expected a string");
    reader->at++;
    while (*reader->at != '"') {
        size_t length = utf8_length((const unsigned char *)reader->at);

        if (!length)
            return fail(reader, "not UTF-8");
        if ((unsigned char)*reader->at < ' ')
            return fail(reader, "a string without an end, or with a control "
                                "character");
        if (*reader->at != '\\')
            reader->at += length;
        else if (!read_escape(reader))
            return false;
    }
    reader->at++;
    return true;
}

static bool read_digits(struct reader *reader)
{
    size_t length = strspn(reader->at, "0123456789");

    reader->at += length;
    return length || fail(reader, "expected a digit");
}

static bool read_number(struct reader *reader)
{
    reader->at += *reader->at == '-';
    if (*reader->at == '0')
        reader->at++;
    else if (!read_digits(reader))
        return false;
    if (*reader->at == '.') {
        reader->at++;
        if (!read_digits(reader))
            return false;
    }
    if (*reader->at == 'e' || *reader->at == 'E') {
        reader->at++;
        reader->at += *reader->at == '+' || *reader->at == '-';
        return read_digits(reader);
    }
    return true;
}

static bool read_literal(struct reader *reader)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);

        if (strncmp(reader->at, words[i], length) == 0) {
            reader->at += length;
            return true;
        }
    }
    return fail(reader, "expected a value");
}

/* ---- Values ---- */

static bool read_value(struct reader *reader);

static bool read_name(struct reader *reader)
{
    if (!read_string(reader))
        return false;
    skip_blanks(reader);
    if (*reader->at != ':')
        return fail(reader, "expected \":\"");
    reader->at++;
    return true;
}

/* The rest of an array or, with names, of an object. */
static bool read_items(struct reader *reader, char end, bool named)
{
    skip_blanks(reader);
    if (*reader->at == end) {
        reader->at++;
        return true;
    }
    for (;; reader->at++) {
        skip_blanks(reader);
        if ((named && !read_name(reader)) || !read_value(reader))
            return false;
        if (*reader->at == end)
            break;
        if (*reader->at != ',')
            return fail(reader, named ? "expected \",\" or \"}\""
                                      : "expected \",\" or \"]\"");
    }
    reader->at++;
    return true;
}

/* With the blanks around it. */
static bool read_value(struct reader *reader)
{
    bool good;

    skip_blanks(reader);
    if (*reader->at == '{' || *reader->at == '[') {
        bool named = *reader->at == '{';

        if (reader->depth == MOST_DEPTH)
            return fail(reader, "nested more than 64 deep");
        reader->depth++;
        reader->at++;
        good = read_items(reader, named ? '}' : ']', named);
        reader->depth--;
    } else if (*reader->at == '"') {
        good = read_string(reader);
    } else if (*reader->at == '-' ||
               (*reader->at >= '0' && *reader->at <= '9')) {
        good = read_number(reader);
    } else {
        good = read_literal(reader);
    }
    if (good)
        skip_blanks(reader);
    return good;
}

const char *json_check(const char *text, size_t size, const char **at)
{
    struct reader reader = {.at = text};

    if (read_value(&reader) && reader.at != text + size)
        fail(&reader, "expected the end");
    *at = reader.at;
    return reader.rule;
}

/* ---- Looking into it ---- */

static bool is_null(const char *value)
{
    return strncmp(value, "null", 4) == 0;
}

const char *json_member(const char *object, const char *name,
                        const char **value, const char **at)
{
    struct reader reader = {.at = object};
    size_t length = strlen(name);
    const char *found = NULL;

    *at = object;
    if (*object != '{')
        return "expected an object";
    reader.at++;
    skip_blanks(&reader);
    while (*reader.at != '}') {
        bool ours = strncmp(reader.at + 1, name, length) == 0 &&
                    reader.at[1 + length] == '"';

        *at = reader.at;
        if (ours && found)
            return "the name was there before";
        read_name(&reader);
        skip_blanks(&reader);
        if (ours)
            found = reader.at;
        read_value(&reader);
        reader.at += *reader.at == ',';
        skip_blanks(&reader);
    }
    *value = found && !is_null(found) ? found : NULL;
    return NULL;
}

bool json_is(const char *value, const char *string)
{
    size_t length = strlen(string);

    return *value == '"' && strncmp(value + 1, string, length) == 0 &&
           value[1 + length] == '"';
}

const char *json_count(const char *value, int64_t *number, const char **at)
{
    const char *end = value;

    *at = value;
    if (text_number(&end, number) || (*end && strchr(".eE", *end)) ||
        *number < 1 || *number > INT32_MAX)
        return "expected a whole number from 1 to 2147483647";
    return NULL;
}
