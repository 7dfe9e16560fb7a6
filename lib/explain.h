/* SPDX-License-Identifier: MIT */
/* Says why a key was missed: which fields of it differ from those of the
 * nearest entry for the same kernel and specialization. */
#ifndef JG_EXPLAIN_H
#define JG_EXPLAIN_H

#include "stock.h"

/* Appends the names of the fields that differ, with ", " between. Returns how
 * many do. */
size_t jg_explain_difference(const struct jg_span a[JG_KEY_FIELD_COUNT],
                             const struct jg_span b[JG_KEY_FIELD_COUNT],
                             struct jg_buf *names);

/* Logs that the directory or pack (jg_stock_open()) has not that key, and
 * which such entry it has. Reads all the entries there, so does nothing unless
 * the log's level is JITGEMM_LOG_DEBUG. */
void jg_explain_miss(const char *path, unsigned flags,
                     const struct jg_key *key, const struct jg_log *log);

#endif
