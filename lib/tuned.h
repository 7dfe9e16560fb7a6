/* SPDX-License-Identifier: MIT */
/* The measured choices beside a cache, read once. Never a reason to fail: a
 * file that cannot be read, trusted or understood is as if it were empty, and
 * that is a warning unless it is just not there. */
#ifndef JG_TUNED_H
#define JG_TUNED_H

#include <pthread.h>

#include "cache.h"
#include "tuning.h"

struct jg_tuned { /* of one device */
    pthread_mutex_t lock; /* of the rest */
    bool read;
    char why[200]; /* it is empty, or "" */
    struct jg_tuning tuning;
};

void jg_tuned_open(struct jg_tuned *tuned);
void jg_tuned_close(struct jg_tuned *tuned);

/* Fills the rest of an entry that has its class; false, and why not, if there
 * is none. */
bool jg_tuned_find(struct jg_tuned *tuned, const struct jg_cache *cache,
                   const struct jg_device *device, const struct jg_log *log,
                   struct jg_tuning_entry *entry, char *why, size_t size);

/* Reads the file again, puts the entry into it and publishes it. Of two
 * processes at once one may lose its entry: to tune again brings it back.
 * E_CACHE or E_MEMORY. */
jitgemm_status jg_tuned_put(struct jg_tuned *tuned,
                            const struct jg_cache *cache,
                            const struct jg_device *device,
                            const struct jg_log *log,
                            const struct jg_tuning_entry *entry);

#endif
