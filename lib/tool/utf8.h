/* SPDX-License-Identifier: MIT */
/* UTF-8 (RFC 3629), which JSON is in. */
#ifndef JITGEMM_WARM_UTF8_H
#define JITGEMM_WARM_UTF8_H

#include <stddef.h>

/* The bytes of the character at `text`, 0 if there is none: overlong forms,
 * surrogates and numbers past U+10FFFF are none. */
size_t utf8_length(const unsigned char *text);

#endif
