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
    const char *xdg_runtime_dir; /* XDG_RUNTIME_DIR */
    const char *home;           /* HOME */
    const char *mode;           /* JITGEMM_MODE */
    const char *cache_ro_path;  /* JITGEMM_CACHE_RO_PATH */
    const char *cache_max_size; /* JITGEMM_CACHE_MAX_SIZE */
    const char *lock_timeout;   /* JITGEMM_LOCK_TIMEOUT */
    int jobs;                   /* JITGEMM_JOBS, 0 if unset */
    const char *libcuda;        /* JITGEMM_LIBCUDA */
    const char *libnvrtc;       /* JITGEMM_LIBNVRTC */
    bool any_nvrtc;             /* JITGEMM_ANY_NVRTC=1 */
    int compile_timeout;        /* JITGEMM_COMPILE_TIMEOUT, 0 if unset */
    bool line_info;             /* JITGEMM_LINEINFO=1 */
    const char *keep_source;    /* JITGEMM_KEEP_SRC */
    const char *virtual_env;    /* VIRTUAL_ENV */
    const char *cuda_home;      /* CUDA_HOME */
    const char *cuda_path;      /* CUDA_PATH */
};

struct jg_env jg_env_read(void);

#endif
