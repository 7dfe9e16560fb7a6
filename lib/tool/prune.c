/* SPDX-License-Identifier: MIT */
/* Asks the library to prune its cache. */
#include "prune.h"

#include <jitgemm.h>
#include <stdio.h>

#include "common.h"

static void log_line(void *user, int level, const char *line)
{
    (void)user;
    if (level <= JITGEMM_LOG_WARNING)
        complain("%s", line);
    else
        puts(line); /* of JITGEMM_LOG_INFO: an entry */
}

bool prune(const char *cache_dir, bool dry)
{
    /* Any architecture will do: it spares the need for a GPU. */
    jitgemm_context_options options = {
        .size = sizeof options,
        .arch = "sm_90a",
        .cache_dir = cache_dir,
        .log_level = JITGEMM_LOG_INFO,
        .log = log_line,
    };
    jitgemm_pruned pruned = {.size = sizeof pruned};
    jitgemm_context *context = NULL;
    bool good =
        jitgemm_context_create(&options, &context) == JITGEMM_OK &&
        jitgemm_cache_prune(context, JITGEMM_PRUNE_TO_LIMIT,
                            dry ? JITGEMM_PRUNE_DRY_RUN : 0,
                            &pruned) == JITGEMM_OK;

    if (!good)
        complain("%s", jitgemm_last_error()->text);
    else
        printf("%llu entries, %.1f MiB: %s %llu of them, %.1f MiB, and %lu "
               "other files\n",
               (unsigned long long)pruned.entries,
               (double)pruned.bytes / 1048576,
               dry ? "would remove" : "removed",
               (unsigned long long)pruned.removed,
               (double)pruned.removed_bytes / 1048576,
               (unsigned long)pruned.swept);
    jitgemm_context_destroy(context);
    return good;
}
