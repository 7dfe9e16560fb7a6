/* SPDX-License-Identifier: MIT */
/* A folder with the fake CUDA libraries. */
#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */
#include "fakes.h"

#include <dlfcn.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check(int good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(1);
}

/* FOLDER/name -> a library that the build made; JG_FAKES says where. */
static void link_fake(const char *folder, const char *name, const char *built,
                      char *path, size_t size)
{
    const char *made = getenv("JG_FAKES");
    char target[512];

    snprintf(target, sizeof target, "%s/%s",
             made ? made : "tests/fake/.libs", built);
    snprintf(path, size, "%s/%s", folder, name);
    if (access(target, R_OK) != 0) {
        printf("skipped: no %s; the build makes no shared libraries\n", target);
        exit(77);
    }
    check(symlink(target, path) == 0, path);
}

static void *find(const char *path, const char *symbol)
{
    void *library = dlopen(path, RTLD_NOW);
    void *address = library ? dlsym(library, symbol) : NULL;

    if (!address)
        fprintf(stderr, "%s\n", dlerror());
    check(address != NULL, symbol);
    return address;
}

struct fakes fakes_open(void)
{
    struct fakes fakes;
    char path[512], old[512], here[200];

    check(getcwd(here, sizeof here) != NULL, "getcwd");
    snprintf(fakes.folder, sizeof fakes.folder, "%s/fakes-XXXXXX", here);
    check(mkdtemp(fakes.folder) != NULL, fakes.folder);
    link_fake(fakes.folder, "libnvrtc-builtins.so.13.0", "fake_nvrtc.so", path,
              sizeof path);
    link_fake(fakes.folder, "libnvrtc.so.13", "fake_nvrtc.so", path,
              sizeof path);
    setenv("JITGEMM_LIBNVRTC", path, 1);
    fakes.nvrtc = find(path, "fake_nvrtc");
    snprintf(fakes.old, sizeof fakes.old, "%s/old", fakes.folder);
    check(mkdir(fakes.old, 0755) == 0, fakes.old);
    link_fake(fakes.old, "libnvrtc-builtins.so.13.0", "fake_old_nvrtc.so",
              old, sizeof old);
    link_fake(fakes.old, "libnvrtc.so.13", "fake_old_nvrtc.so", old,
              sizeof old);
    fakes.old_nvrtc = find(old, "fake_nvrtc");
    link_fake(fakes.folder, "libcuda.so.1", "fake_cuda.so", path, sizeof path);
    setenv("JITGEMM_LIBCUDA", path, 1);
    fakes.cuda = find(path, "fake_cuda");
    snprintf(path, sizeof path, "%s/cache", fakes.folder);
    setenv("JITGEMM_CACHE_DIR", path, 1);
    return fakes;
}

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void fakes_close(struct fakes *fakes)
{
    nftw(fakes->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
