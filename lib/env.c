/* SPDX-License-Identifier: MIT */
/* The one reader of the environment. */
#define _GNU_SOURCE /* secure_getenv */
#include "env.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/auxv.h>

static const char *text(const char *name)
{
    const char *value = secure_getenv(name);

    return value && *value ? value : NULL;
}

static const char *directory(const char *name)
{
    const char *value = text(name);

    return value && *value == '/' ? value : NULL;
}

struct jg_env jg_env_read(void)
{
    const char *level = text("JITGEMM_LOG");
    const char *trust = text("JITGEMM_CACHE_TRUST_GROUP");
    struct jg_env env = {
        .untrusted = getauxval(AT_SECURE) != 0,
        .log_level = level ? atoi(level) : 0,
        .trust_group = trust && *trust == '1',
        .cache_dir = directory("JITGEMM_CACHE_DIR"),
        .xdg_cache_home = directory("XDG_CACHE_HOME"),
        .xdg_runtime_dir = directory("XDG_RUNTIME_DIR"),
        .home = directory("HOME"),
        .mode = text("JITGEMM_MODE"),
        .cache_ro_path = text("JITGEMM_CACHE_RO_PATH"),
        .cache_max_size = text("JITGEMM_CACHE_MAX_SIZE"),
        .lock_timeout = text("JITGEMM_LOCK_TIMEOUT"),
        .libcuda = text("JITGEMM_LIBCUDA"),
        .libnvrtc = text("JITGEMM_LIBNVRTC"),
    };

    return env;
}
