/* SPDX-License-Identifier: MIT */
/* The one reader of the environment. */
#define _GNU_SOURCE /* secure_getenv */
#include "env.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
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
    const char *mode = text("JITGEMM_MODE");
    const char *jobs = text("JITGEMM_JOBS");
    struct jg_env env = {
        .untrusted = getauxval(AT_SECURE) != 0,
        .log_level = level ? atoi(level) : 0,
        .trust_group = trust && *trust == '1',
        .cache_dir = directory("JITGEMM_CACHE_DIR"),
        .xdg_cache_home = directory("XDG_CACHE_HOME"),
        .home = directory("HOME"),
        .strict = mode && strcmp(mode, "strict") == 0,
        .jobs = jobs ? atoi(jobs) : 0,
        .libcuda = text("JITGEMM_LIBCUDA"),
        .libnvrtc = text("JITGEMM_LIBNVRTC"),
    };

    return env;
}
