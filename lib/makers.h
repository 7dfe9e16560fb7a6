/* SPDX-License-Identifier: MIT */
/* The compilers that made what a cache has. Where there is no compiler, whose
 * identity is part of every key, kernels are looked for under the keys that
 * these would give them. */
#ifndef JG_MAKERS_H
#define JG_MAKERS_H

#include <pthread.h>

#include "cache.h"

/* Newest version first, and of one version by identity, so that the order
 * depends on nothing but who is there. Any number of threads. */
struct jg_makers {
    pthread_mutex_t lock;
    struct jg_maker *first;
};

void jg_makers_open(struct jg_makers *makers);
void jg_makers_close(struct jg_makers *makers);

/* Adds those of all entries of the cache: reads them all. None ever goes. */
void jg_makers_add(struct jg_makers *makers, const struct jg_cache *cache);

/* The key that the index-th of them would give the kernel of `key`, among
 * those of a major version of at most `newest` (0: any). False behind the
 * last, or out of memory. Somebody may add one meanwhile, which moves others
 * back: one may come twice, none is left out that was there before. */
bool jg_makers_key(struct jg_makers *makers, size_t index, int newest,
                   const struct jg_key *key, struct jg_key *made);

#endif
