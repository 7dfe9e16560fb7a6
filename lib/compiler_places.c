/* SPDX-License-Identifier: MIT */
/* The places of libnvrtc, in order. */
#define _POSIX_C_SOURCE 200809L /* readlink */
#include "compiler_places.h"

#include <config.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The newest first, in every place. */
static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
enum { SONAMES = sizeof sonames / sizeof *sonames };

static void add(struct jg_buf *list, const char *path)
{
    for (size_t at = 0; at < list->size;
         at += strlen((const char *)list->data + at) + 1)
        if (strcmp((const char *)list->data + at, path) == 0)
            return;
    jg_buf_add(list, path, strlen(path) + 1);
}

static void add_folder(struct jg_buf *list, const char *folder,
                       const char *below)
{
    for (int i = 0; folder && i < SONAMES; i++) {
        char path[1024];

        snprintf(path, sizeof path, "%s%s%s", folder, below, sonames[i]);
        add(list, path);
    }
}

/* Python packages below a prefix such as /usr: each version's folder, which
 * distributions call dist-packages. */
static void add_packages(struct jg_buf *list, const char *prefix)
{
    static const char *const layouts[SONAMES] = {"cu13", "cuda_nvrtc"};

    for (int i = 0; i < SONAMES; i++) {
        char pattern[1024];
        glob_t found;

        snprintf(pattern, sizeof pattern,
                 "%s/lib/python3*/*-packages/nvidia/%s/lib/%s", prefix,
                 layouts[i], sonames[i]);
        if (glob(pattern, GLOB_NOCHECK, NULL, &found) != 0) {
            add(list, pattern);
            continue;
        }
        for (size_t j = 0; j < found.gl_pathc; j++)
            add(list, found.gl_pathv[j]);
        globfree(&found);
    }
}

/* .../prefix/bin/python3 -> .../prefix; false if it is no python. */
static bool python_prefix(char *program)
{
    char *slash = strrchr(program, '/');

    if (*program != '/' || strncmp(slash, "/python", 7) != 0)
        return false;
    *slash = 0;
    slash = strrchr(program, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

/* The python that runs this process, by the name that it was called by (a
 * virtual environment's is a link) and by the file that it is. */
static void add_own_python(struct jg_buf *list)
{
    char called[1024], program[1024];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, called, sizeof called - 1);

    if (file >= 0)
        close(file);
    called[size > 0 ? size : 0] = 0; /* arguments end with a NUL each */
    if (python_prefix(called))
        add_packages(list, called);
    size = readlink("/proc/self/exe", program, sizeof program - 1);
    program[size > 0 ? size : 0] = 0;
    if (python_prefix(program))
        add_packages(list, program);
}

void jg_compiler_places(const struct jg_env *env, struct jg_buf *list)
{
    struct stat info;

    if (env->libnvrtc) {
        if (stat(env->libnvrtc, &info) == 0 && S_ISDIR(info.st_mode))
            add_folder(list, env->libnvrtc, "/");
        else
            add(list, env->libnvrtc);
        return;
    }
    add_folder(list, "", "");
    if (env->virtual_env)
        add_packages(list, env->virtual_env);
    if (!env->untrusted) /* whoever starts a setuid program picks its name */
        add_own_python(list);
    add_folder(list, env->cuda_home, "/lib64/");
    add_folder(list, env->cuda_path, "/lib64/");
    add_folder(list, "/usr/local/cuda", "/lib64/");
    if (*JG_NVRTC_DIR)
        add_folder(list, JG_NVRTC_DIR, "/");
}
