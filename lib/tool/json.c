/* SPDX-License-Identifier: MIT */
/* Strings of JSON. */
#include "json.h"

#include <stdio.h>

#include "utf8.h"

void json_string(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    putchar('"');
    while (*p) {
        size_t length = utf8_length(p);

        if (*p == '"' || *p == '\\')
            printf("\\%c", *p);
        else if (*p < ' ')
            printf("\\u%04x", *p);
        else if (length)
            fwrite(p, 1, length, stdout);
        else
            fputs("\\ufffd", stdout);
        p += length ? length : 1;
    }
    putchar('"');
}

void json_field(const char *name, const char *value)
{
    printf("\"%s\":", name);
    json_string(value);
}
