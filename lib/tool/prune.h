/* SPDX-License-Identifier: MIT */
/* --prune: the cache made smaller. */
#ifndef JITGEMM_WARM_PRUNE_H
#define JITGEMM_WARM_PRUNE_H

#include <stdbool.h>

/* Brings the cache in `cache_dir` (NULL: the library's choice) down to its
 * limit and prints what was removed; `dry`: what would be. False after a
 * message. */
bool prune(const char *cache_dir, bool dry);

#endif
