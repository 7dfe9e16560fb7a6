/* SPDX-License-Identifier: MIT */
/* A disk that is full, and one that is read-only: real ones, where file
 * systems can be mounted. */
#define _GNU_SOURCE /* nftw, unshare */
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "entries.h"

/* On a small file system of its own: entries make room for one another; what
 * else fills it ends the writing, with one warning and no error. */
static void fill_disk(const char *folder)
{
    struct jg_cache *cache;
    struct statvfs disk;
    int file, kept = 0;
    char *block;

    CHECK_INT(mount("none", folder, "tmpfs", 0, "size=512k,mode=0700"), 0);
    cache = open_cache("disk/c", NULL);
    for (int i = 0; i < COUNT; i++) {
        CHECK(put_key(cache, i) && get_key(cache, i));
        set_age(path_of("disk/c", i), 3600 - i);
    }
    for (int i = 0; i < COUNT; i++)
        kept += get_key(cache, i);
    printf("disk of 512 KiB: %d puts of 20 KiB, %d entries kept\n", COUNT,
           kept);
    CHECK(kept > 10 && kept < 26);
    CHECK_INT(warnings, 0);
    CHECK_INT(count_files(in_scratch("disk/c/v1/t")), 0);

    CHECK_INT(jg_cache_prune(cache, 0, false, NULL, &(struct jg_evicted){0}),
              0);
    CHECK_INT(statvfs(folder, &disk), 0);
    block = calloc(1, disk.f_bsize);
    file = open(in_scratch("disk/others"), O_WRONLY | O_CREAT, 0600);
    while (write(file, block, disk.f_bsize) > 0)
        continue;
    free(block);
    close(file);
    for (int i = 0; i < 4; i++)
        CHECK(!put_key(cache, i) && !get_key(cache, i));
    CHECK_INT(warnings, 1);
    jg_cache_close(cache);
    cache = open_cache("disk/new", NULL);
    CHECK(!put_key(cache, 0) && !get_key(cache, 0));
    jg_cache_close(cache);
    CHECK_INT(mount("none", folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    cache = open_cache("disk/c", NULL);
    CHECK(!put_key(cache, 0) && !get_key(cache, 0));
    CHECK_INT(warnings, 1);
    CHECK_INT(jg_cache_lock(cache, &keys[0], &counting), -1);
    CHECK_INT(warnings, 1);
    jg_cache_close(cache);
}

int main(void)
{
    char folder[2 * PATH_MAX];
    int status = -1;
    pid_t child;

    scratch_begin();
    make_keys();
    snprintf(folder, sizeof folder, "%s", in_scratch("disk"));
    make_folder(folder, 0700);
    child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0 ||
            mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
            _exit(TEST_SKIP);
        fill_disk(folder);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    free_keys();
    scratch_end();
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIP) {
        printf("skipped: file systems cannot be mounted here\n");
        return TEST_SKIP;
    }
    CHECK_INT(status, 0);
    return test_end();
}
