/* SPDX-License-Identifier: MIT */
/* A setuid program has no cache: neither the folder nor the layers that its
 * caller names are read or written. Runs a copy of itself that is setuid to
 * one user (not to root) as another, which only root can. */
#define _GNU_SOURCE /* nftw */
#include <sys/wait.h>

#include "one_entry.h"
#include "scratch.h"

static void run_setuid(void)
{
    struct jg_env env = jg_env_read();
    struct jg_cache *cache = jg_cache_open(NULL, &env, &counting);

    CHECK(!jg_cache_directory(cache));
    CHECK(!get(cache) && !put(cache));
    CHECK_INT(jg_cache_lock(cache, &key, &counting), -1);
    jg_cache_close(cache);
    cache = jg_cache_open(getenv("JITGEMM_CACHE_DIR"), &env, &counting);
    CHECK(!jg_cache_directory(cache) && !get(cache) && !put(cache));
    CHECK_INT(warnings, 0);
    jg_cache_close(cache);
}

static int open_to_readers(const char *path, const struct stat *info, int type,
                           struct FTW *walk)
{
    (void)type;
    (void)walk;
    return chmod(path, S_ISDIR(info->st_mode) ? 0755 : 0644);
}

/* The exit status of the copy. */
static int run_copy(const char *copy)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        if (setgid(65534) == 0 && setuid(65534) == 0)
            execl(copy, copy, "setuid", (char *)NULL);
        _exit(TEST_SKIP);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
    char copy[2 * PATH_MAX], folder[2 * PATH_MAX];
    const struct jg_env env = {.trust_group = false};
    struct jg_cache *cache;
    size_t size;
    void *program;
    int status;

    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    if (argc == 2 && strcmp(argv[1], "setuid") == 0) {
        if (geteuid() == getuid())
            _exit(TEST_SKIP);
        run_setuid();
        _exit(test_failures != 0); /* leaks are not looked for in setuid */
    }
    if (geteuid() != 0) {
        printf("skipped: only root makes programs setuid to another user\n");
        jg_key_free(&key);
        return TEST_SKIP;
    }
    scratch_begin();
    chmod(scratch, 0711);
    snprintf(copy, sizeof copy, "%s", in_scratch("copy"));
    snprintf(folder, sizeof folder, "%s", in_scratch("c"));
    program = read_file("/proc/self/exe", &size);
    write_file(copy, program, size, 0755);
    free(program);
    CHECK(chown(copy, 65533, 65533) == 0 && chmod(copy, 04755) == 0);
    /* Of root, and there to be read by all. */
    cache = jg_cache_open(folder, &env, &counting);
    CHECK(put(cache));
    CHECK_INT(nftw(folder, open_to_readers, 16, FTW_PHYS), 0);
    jg_cache_close(cache);
    CHECK(setenv("JITGEMM_CACHE_DIR", folder, 1) == 0 &&
          setenv("JITGEMM_CACHE_RO_PATH", folder, 1) == 0);
    status = run_copy(copy);
    CHECK(status == 0 || status == TEST_SKIP);
    jg_key_free(&key);
    scratch_end();
    if (status == TEST_SKIP)
        printf("skipped: setuid programs do not run here\n");
    return status == TEST_SKIP ? TEST_SKIP : test_end();
}
