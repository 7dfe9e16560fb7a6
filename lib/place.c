/* SPDX-License-Identifier: MIT */
/* The first folder that will do. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

struct choice {
    const char *top;  /* NULL: not available */
    const char *rest; /* below top */
    bool named;       /* by the user: this or none */
    bool follow;      /* may be a link: only the user can have put it there */
    bool parent;      /* may be made too */
};

/* Memory to free(), or NULL if out of memory. */
static char *parent_of(const char *path)
{
    char *parent = strdup(path), *slash = parent ? strrchr(parent, '/') : NULL;

    if (slash)
        slash[slash == parent] = 0;
    return parent;
}

/* 0 if `path` is a trusted folder or may be made. Of parents, only
 * $XDG_CACHE_HOME and $HOME/.cache are made: the XDG base directory
 * specification wants that of whoever first needs them, and without it a
 * fresh account would be left with /tmp. A home that is not there, or not
 * this user's (root under sudo), is left alone. */
static int probe(const char *path, const struct choice *choice, unsigned flags,
                 bool *make_parent)
{
    char *parent = NULL, *above = NULL;
    int folder, error;

    error = jg_file_open_folder(AT_FDCWD, path, flags, &folder);
    if (!error)
        close(folder);
    if (error != ENOENT)
        return error;
    parent = parent_of(path);
    above = parent ? parent_of(parent) : NULL;
    error = above ? jg_file_may_create(parent, !choice->named) : ENOMEM;
    if (error == ENOENT && choice->parent) {
        error = jg_file_may_create(above, true);
        *make_parent = !error;
    }
    free(above);
    free(parent);
    return error;
}

static int take(struct jg_store *store, const struct choice *choice,
                unsigned flags)
{
    struct jg_store taken = {
        .base_flags = flags | (choice->follow ? JG_FILE_FOLLOW : 0),
        .flags = flags,
    };
    int error;

    jg_buf_printf(&taken.base, "%s%s", choice->top, choice->rest);
    /* After a slash at the end, a link is followed whatever the flags say. */
    while (taken.base.size > 1 && taken.base.data[taken.base.size - 1] == '/')
        taken.base.data[--taken.base.size] = 0;
    error = taken.base.failed ? ENOMEM
                              : probe((char *)taken.base.data, choice,
                                      taken.base_flags, &taken.make_parent);
    if (error)
        jg_store_free(&taken);
    else
        *store = taken;
    return error;
}

static int choose(const struct choice *choices, size_t count, unsigned flags,
                  const struct jg_log *log, struct jg_store *store)
{
    for (size_t i = 0; i < count; i++) {
        const struct choice *choice = &choices[i];
        const char *top = choice->top;
        int error;

        /* HOME=/ is what services without a home get. */
        if (!top || (!choice->named && !top[strspn(top, "/")]))
            continue;
        error = *top == '/' ? take(store, choice, flags) : EINVAL;
        if (!error || error == ENOMEM)
            return error;
        jg_log(log, choice->named ? JITGEMM_LOG_WARNING : JITGEMM_LOG_DEBUG,
               "cache: not %s%s: %s", top, choice->rest, jg_file_text(error));
        if (choice->named)
            return 0;
    }
    jg_log(log, JITGEMM_LOG_WARNING, "cache: no folder can be used");
    return 0;
}

unsigned jg_place_trust(const struct jg_env *env)
{
    return env->trust_group ? JG_FILE_GROUP : 0;
}

struct own { /* for this user alone, in /tmp */
    char name[40];
};

static struct own own_folder(void)
{
    struct own own;

    snprintf(own.name, sizeof own.name, "jitgemm-%lu",
             (unsigned long)geteuid());
    return own;
}

int jg_place_choose(const char *dir, const struct jg_env *env,
                    const struct jg_log *log, struct jg_store *store)
{
    const struct own own = own_folder();
    const struct choice choices[] = {
        {dir, "", true, true, false},
        {env->cache_dir, "", true, true, false},
        {env->xdg_cache_home, "/jitgemm", false, true, true},
        {env->home, "/.cache/jitgemm", false, true, true},
        {"/tmp/", own.name, false, false, false},
    };

    return choose(choices, sizeof choices / sizeof *choices, jg_place_trust(env),
                  log, store);
}

int jg_place_choose_local(const struct jg_env *env, struct jg_store *store)
{
    const struct own own = own_folder();
    const struct choice choices[] = {
        {env->xdg_runtime_dir, "/jitgemm", false, true, false},
        {"/tmp/", own.name, false, false, false},
    };

    return choose(choices, sizeof choices / sizeof *choices, jg_place_trust(env),
                  NULL, store);
}
