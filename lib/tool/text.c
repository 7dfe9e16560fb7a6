/* SPDX-License-Identifier: MIT */
/* Numbers and words. */
#include "text.h"

#include <string.h>

const char *text_number(const char **at, int64_t *number)
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

const char *text_word(const char **at, const char *const *words, int *number)
{
    size_t length = strcspn(*at, ":+");

    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length &&
            memcmp(words[i], *at, length) == 0) {
            *number = i;
            *at += length;
            return NULL;
        }
    return "unknown word";
}
