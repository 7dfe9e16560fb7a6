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

static int number(const char *name)
{
    const char *value = text(name);

    return value ? atoi(value) : 0;
}

static bool flag(const char *name)
{
    const char *value = text(name);

    return value && *value == '1';
}

struct jg_env jg_env_read(void)
{
    struct jg_env env = {
        .untrusted = getauxval(AT_SECURE) != 0,
        .log_level = number("JITGEMM_LOG"),
        .trust_group = flag("JITGEMM_CACHE_TRUST_GROUP"),
        .cache_dir = directory("JITGEMM_CACHE_DIR"),
        .xdg_cache_home = directory("XDG_CACHE_HOME"),
        .xdg_runtime_dir = directory("XDG_RUNTIME_DIR"),
        .home = directory("HOME"),
        .mode = text("JITGEMM_MODE"),
        .cache_ro_path = text("JITGEMM_CACHE_RO_PATH"),
        .cache_max_size = text("JITGEMM_CACHE_MAX_SIZE"),
        .lock_timeout = text("JITGEMM_LOCK_TIMEOUT"),
        .jobs = number("JITGEMM_JOBS"),
        .libcuda = text("JITGEMM_LIBCUDA"),
        .libnvrtc = text("JITGEMM_LIBNVRTC"),
        .any_nvrtc = flag("JITGEMM_ANY_NVRTC"),
        .compile_timeout = number("JITGEMM_COMPILE_TIMEOUT"),
        .line_info = flag("JITGEMM_LINEINFO"),
        .keep_source = directory("JITGEMM_KEEP_SRC"),
        .virtual_env = directory("VIRTUAL_ENV"),
        .cuda_home = directory("CUDA_HOME"),
        .cuda_path = directory("CUDA_PATH"),
    };

    return env;
}
