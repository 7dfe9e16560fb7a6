/* SPDX-License-Identifier: MIT */
/* What a context counts. The order of two counts that change together is not
 * kept: sums are exact once nobody works. */
#ifndef JG_STATS_H
#define JG_STATS_H

#include <stdatomic.h>

#include "jitgemm.h"

/* Those of jitgemm_stats that are counted; times in microseconds. */
#define JG_STATS_COUNTED(_)                                                   \
    _(memory_hits)                                                            \
    _(pack_hits)                                                              \
    _(disk_hits)                                                              \
    _(compiled)                                                               \
    _(failed)                                                                 \
    _(misses)                                                                 \
    _(refused)                                                                \
    _(compiles)                                                               \
    _(failed_compiles)                                                        \
    _(loads)                                                                  \
    _(failed_loads)                                                           \
    _(compile_us)                                                             \
    _(load_us)

struct jg_stats { /* all zero at first */
#define JG_STATS_FIELD(name) atomic_ullong name;
    JG_STATS_COUNTED(JG_STATS_FIELD)
#undef JG_STATS_FIELD
};

static inline void jg_stats_add(atomic_ullong *count, unsigned long long more)
{
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

/* The end of a request for a kernel. */
void jg_stats_add_request(struct jg_stats *stats, jitgemm_status status,
                          jitgemm_source source);

/* Fills what is counted here, and leaves the rest. */
void jg_stats_read(struct jg_stats *stats, jitgemm_stats *read);

/* As jitgemm_stats_json(). */
size_t jg_stats_json(const jitgemm_stats *stats, char *text, size_t size);

#endif
