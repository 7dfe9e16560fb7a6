/* SPDX-License-Identifier: MIT */
/* Byte strings: borrowed, or one that grows. Running out of memory is
 * remembered in `failed`, so a writer checks once, at the end. */
#ifndef JG_BUF_H
#define JG_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

struct jg_span { /* bytes that somebody else owns */
    const void *data;
    size_t size;
};

struct jg_buf {     /* all zero: empty */
    unsigned char *data; /* always followed by a NUL, or NULL while empty */
    size_t size, capacity;
    bool failed;
};

void jg_buf_add(struct jg_buf *buf, const void *bytes, size_t size);
void jg_buf_printf(struct jg_buf *buf, const char *format, ...)
    JG_PRINTF(2, 3);
void jg_buf_free(struct jg_buf *buf); /* back to all zero */

#endif
