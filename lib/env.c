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

static bool flag(const char *name)
{
    const char *value = text(name);

    return value && *value == '1';
}

struct jg_env jg_env_read(void)
{
    const char *level = text("JITGEMM_LOG");
    struct jg_env env = {
        .untrusted = getauxval(AT_SECURE) != 0,
        .log_level = level ? atoi(level) : 0,
        .trust_group = flag("JITGEMM_CACHE_TRUST_GROUP"),
        .cache_dir = directory("JITGEMM_CACHE_DIR"),
        .xdg_cache_home = directory("XDG_CACHE_HOME"),
        .home = directory("HOME"),
        .libcuda = text("JITGEMM_LIBCUDA"),
        .libnvrtc = text("JITGEMM_LIBNVRTC"),
        .any_nvrtc = flag("JITGEMM_ANY_NVRTC"),
        .virtual_env = directory("VIRTUAL_ENV"),
        .cuda_home = directory("CUDA_HOME"),
        .cuda_path = directory("CUDA_PATH"),
    };

    return env;
}
