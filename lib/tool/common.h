/* SPDX-License-Identifier: MIT */
/* What every file of the tool needs: messages and memory that is there. */
#ifndef JITGEMM_WARM_COMMON_H
#define JITGEMM_WARM_COMMON_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__GNUC__)
#define PRINTF_LIKE(text, values) __attribute__((format(printf, text, values)))
#else
#define PRINTF_LIKE(text, values)
#endif

/* Writes "jitgemm-warm: ", the message and a newline to stderr. */
void complain(const char *format, ...) PRINTF_LIKE(1, 2);

/* False after a message if what was printed is lost. */
bool flush_output(void);

/* Room for `need` elements: returns `items`, perhaps moved, with `*capacity`
 * updated. Ends the program where memory is short: nothing is lost, since
 * what was compiled is in the cache. */
void *grow(void *items, size_t *capacity, size_t need, size_t element_bytes);

/* A copy that the caller frees. */
char *copy_text(const char *text);

/* The path from the root, which the library asks for; the caller frees it. */
char *absolute_path(const char *path);

#endif
