/* SPDX-License-Identifier: MIT */
/* What the environment says of the cache, as numbers. */
#ifndef JG_SETTINGS_H
#define JG_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "status.h"

struct jg_settings {
    bool reads, writes;  /* JITGEMM_MODE; readwrite */
    double lock_seconds; /* JITGEMM_LOCK_TIMEOUT; 30 */
    uint64_t max_bytes;  /* JITGEMM_CACHE_MAX_SIZE; 1 GiB; UINT64_MAX if 0 */
};

/* What cannot be read is a warning, and as if it were not set. */
struct jg_settings jg_settings_read(const struct jg_env *env,
                                    const struct jg_log *log);

#endif
