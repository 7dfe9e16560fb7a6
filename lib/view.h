/* SPDX-License-Identifier: MIT */
/* An entry as callers of the library see it. */
#ifndef JG_VIEW_H
#define JG_VIEW_H

#include "entry.h"
#include "key.h"

struct jg_view {
    jitgemm_entry entry;
    jitgemm_field fields[JG_KEY_FIELD_COUNT];
    char *text; /* what they point to */
};

/* Fills a view, whose state is GOOD; `bytes` is the size of the entry's file
 * form. The view may not be moved. E_MEMORY or OK. */
jitgemm_status jg_view_good(const char *name, const struct jg_entry *entry,
                            size_t bytes, struct jg_view *view);
void jg_view_free(struct jg_view *view);

/* Calls with a BAD entry, if there is somebody to call and, in `why`, something
 * to tell. */
void jg_view_bad(const char *name, const char *why, jitgemm_entry_fn function,
                 void *user);

#endif
