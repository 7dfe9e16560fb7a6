/* SPDX-License-Identifier: MIT */
/* Keeping a folder of entries small: those used least recently go first. */
#ifndef JG_EVICT_H
#define JG_EVICT_H

#include "store.h"

struct jg_evicted {
    uint64_t entries, bytes;         /* found, on disk */
    uint64_t removed, removed_bytes; /* of those */
    uint64_t swept; /* files left in t and q for more than a day */
};

/* If the entries have more than `limit` bytes, removes the oldest until they
 * have at most `keep`, and sweeps t and q; `dry`: only says what it would. An
 * entry that somebody replaced or used meanwhile is left alone. Any number of
 * processes may be at it. Logs a line an entry.
 * Returns 0 or an error of file.h, with *evicted filled in either case. */
int jg_evict(const struct jg_store *store, uint64_t limit, uint64_t keep,
             bool dry, const struct jg_log *log, struct jg_evicted *evicted);

#endif
