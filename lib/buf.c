/* SPDX-License-Identifier: MIT */
/* A byte string that grows. */
#include "buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and a NUL after them, or failed. */
static bool reserve(struct jg_buf *buf, size_t more)
{
    size_t need, capacity = buf->capacity ? buf->capacity : 256;
    unsigned char *data;

    if (buf->failed || more >= SIZE_MAX / 4 - buf->size) {
        buf->failed = true;
        return false;
    }
    need = buf->size + more + 1;
    if (need <= buf->capacity)
        return true;
    while (capacity < need)
        capacity *= 2;
    data = realloc(buf->data, capacity);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void jg_buf_add(struct jg_buf *buf, const void *bytes, size_t size)
{
    if (!reserve(buf, size))
        return;
    if (size)
        memcpy(buf->data + buf->size, bytes, size);
    buf->size += size;
    buf->data[buf->size] = 0;
}

void jg_buf_printf(struct jg_buf *buf, const char *format, ...)
{
    va_list values;
    int size;

    va_start(values, format);
    size = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (size < 0 || !reserve(buf, (size_t)size)) {
        buf->failed = true;
        return;
    }
    va_start(values, format);
    vsnprintf((char *)buf->data + buf->size, (size_t)size + 1, format, values);
    va_end(values);
    buf->size += (size_t)size;
}

void jg_buf_free(struct jg_buf *buf)
{
    free(buf->data);
    memset(buf, 0, sizeof *buf);
}
