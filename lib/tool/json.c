/* SPDX-License-Identifier: MIT */
/* Strings of JSON. */
#include "json.h"

#include <stdio.h>

/* The bytes of the UTF-8 character at `text`, 0 if there is none: overlong
 * forms, surrogates and numbers past U+10FFFF are none (RFC 3629). */
static size_t utf8_length(const unsigned char *text)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t length;

    if (text[0] < 0x80)
        return 1;
    if (text[0] < 0xC2 || text[0] > 0xF4)
        return 0;
    length = text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    if (text[0] == 0xE0)
        low = 0xA0;
    else if (text[0] == 0xF0)
        low = 0x90;
    else if (text[0] == 0xED)
        high = 0x9F;
    else if (text[0] == 0xF4)
        high = 0x8F;
    for (size_t i = 1; i < length; i++, low = 0x80, high = 0xBF)
        if (text[i] < low || text[i] > high)
            return 0;
    return length;
}

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
