/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>

void jg_stats_add_request(struct jg_stats *stats, jitgemm_status status,
                          jitgemm_source source)
{
    if (status != JITGEMM_OK)
        jg_stats_add(&stats->failed, 1);
    else if (source == JITGEMM_SOURCE_MEMORY)
        jg_stats_add(&stats->memory_hits, 1);
    else if (source == JITGEMM_SOURCE_PACK)
        jg_stats_add(&stats->pack_hits, 1);
    else if (source == JITGEMM_SOURCE_DISK)
        jg_stats_add(&stats->disk_hits, 1);
    else
        jg_stats_add(&stats->compiled, 1);
}

void jg_stats_read(struct jg_stats *stats, jitgemm_stats *read)
{
#define STATS_READ(name)                                                      \
    read->name = atomic_load_explicit(&stats->name, memory_order_relaxed);
    JG_STATS_COUNTED(STATS_READ)
#undef STATS_READ
}

size_t jg_stats_json(const jitgemm_stats *stats, char *text, size_t size)
{
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
#define STATS_NAMED(name) {#name, stats->name},
        JG_STATS_COUNTED(STATS_NAMED)
#undef STATS_NAMED
            {"kernels", stats->kernels},
        {"kernel_bytes", stats->kernel_bytes},
        {"corrupt", stats->corrupt},
        {"evicted", stats->evicted},
        {"lock_waits", stats->lock_waits},
    };
    size_t length = 0;
    int written = snprintf(text, size, "{\"frozen\":%s",
                           stats->frozen ? "true" : "false");

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        length += (size_t)written;
        written =
            snprintf(length < size ? text + length : NULL,
                     length < size ? size - length : 0, ",\"%s\":%" PRIu64,
                     fields[i].name, fields[i].value);
    }
    length += (size_t)written;
    snprintf(length < size ? text + length : NULL,
             length < size ? size - length : 0, "}");
    return length + 1;
}
