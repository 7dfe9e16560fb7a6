/* SPDX-License-Identifier: MIT */
/* Texts of variables to values. */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void complain(const struct jg_log *log, const char *name,
                     const char *text, const char *form)
{
    jg_log(log, JITGEMM_LOG_WARNING, "cache: %s is \"%s\", not %s", name, text,
           form);
}

static void read_mode(const char *text, const struct jg_log *log,
                      struct jg_settings *settings)
{
    static const struct {
        const char *name;
        bool reads, writes;
    } modes[] = {
        {"readwrite", true, true},
        {"read", true, false},
        {"write", false, true},
        {"off", false, false},
        {"strict", true, true}, /* frozen contexts; not the cache's concern */
    };

    if (!text)
        return;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(text, modes[i].name) == 0) {
            settings->reads = modes[i].reads;
            settings->writes = modes[i].writes;
            return;
        }
    }
    complain(log, "JITGEMM_MODE", text,
             "readwrite, read, write, off or strict");
}

static void read_seconds(const char *text, const struct jg_log *log,
                         struct jg_settings *settings)
{
    char *end;
    double seconds = text ? strtod(text, &end) : 0;

    if (!text)
        return;
    if (!*end && seconds >= 0 && seconds <= 86400)
        settings->lock_seconds = seconds;
    else
        complain(log, "JITGEMM_LOCK_TIMEOUT", text, "0 to 86400 seconds");
}

static void read_bytes(const char *text, const struct jg_log *log,
                       struct jg_settings *settings)
{
    static const char units[] = "KMG";
    const char *unit;
    char *end;
    unsigned long long number;
    int shift = 0;

    if (!text)
        return;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (*end && (unit = strchr(units, *end))) {
        shift = 10 * (int)(unit - units + 1);
        end++;
    }
    if (*text < '0' || *text > '9' || *end || errno ||
        number > UINT64_MAX >> shift)
        complain(log, "JITGEMM_CACHE_MAX_SIZE", text,
                 "a number of bytes, or of K, M or G");
    else
        settings->max_bytes = number ? number << shift : UINT64_MAX;
}

struct jg_settings jg_settings_read(const struct jg_env *env,
                                    const struct jg_log *log)
{
    struct jg_settings settings = {
        .reads = true,
        .writes = true,
        .lock_seconds = 30,
        .max_bytes = (uint64_t)1 << 30,
    };

    read_mode(env->mode, log, &settings);
    read_seconds(env->lock_timeout, log, &settings);
    read_bytes(env->cache_max_size, log, &settings);
    return settings;
}
