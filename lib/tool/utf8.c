/* SPDX-License-Identifier: MIT */
#include "utf8.h"

size_t utf8_length(const unsigned char *text)
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
