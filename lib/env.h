/* SPDX-License-Identifier: MIT */
/* The environment, read in one place. Under setuid every variable reads as
 * unset and `untrusted` is true: no disk cache, no library overrides. */
#ifndef JG_ENV_H
#define JG_ENV_H

#include <stdbool.h>

/* Strings belong to the environment: copy what must outlive the call that
 * read them. A variable that is unset, empty or (for directories) not an
 * absolute path is NULL. */
struct jg_env {
    bool untrusted;
    int log_level;              /* JITGEMM_LOG, 0 if unset */
    bool trust_group;           /* JITGEMM_CACHE_TRUST_GROUP=1 */
    const char *cache_dir;      /* JITGEMM_CACHE_DIR */
    const char *xdg_cache_home; /* XDG_CACHE_HOME */
    const char *home;           /* HOME */
    bool strict;                /* JITGEMM_MODE=strict */
    int jobs;                   /* JITGEMM_JOBS, 0 if unset */
    const char *libcuda;        /* JITGEMM_LIBCUDA */
    const char *libnvrtc;       /* JITGEMM_LIBNVRTC */
};

struct jg_env jg_env_read(void);

#endif
