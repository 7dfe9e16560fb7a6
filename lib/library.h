/* SPDX-License-Identifier: MIT */
/* Shared libraries, opened at run time and never closed, and what can be
 * learned of them. */
#ifndef JG_LIBRARY_H
#define JG_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct jg_symbol {
    const char *name;
    size_t offset; /* of its pointer in a table */
};

/* Opens a library by path or by soname, its symbols for nobody else; NULL,
 * with the loader's words in *why (valid until the next call), if it cannot.
 */
void *jg_library_open(const char *path, const char **why);

/* Its symbol's address, or NULL. */
void *jg_library_find(void *library, const char *name);

/* Fills the pointers of a table; the name of the first that is missing, or
 * NULL. */
const char *jg_library_fill(void *library, const struct jg_symbol *symbols,
                            size_t count, void *table);

/* The path it was loaded from: a static string of the loader's. */
const char *jg_library_path(void *library);

#define JG_LIBRARY_ID_SIZE 65 /* with its NUL */

/* Its GNU build id in hex; false if it has none that fits. */
bool jg_library_build_id(void *library, char id[JG_LIBRARY_ID_SIZE]);

#endif
