/* SPDX-License-Identifier: MIT */
/* Locks between processes: they exclude, wait no longer than told, die with
 * their holder, and are never needed. */
#define _GNU_SOURCE /* nftw */
#include <signal.h>
#include <sys/wait.h>

#include "clock.h"
#include "one_entry.h"
#include "scratch.h"

static struct jg_key other_key; /* in another bucket */

static struct jg_cache *open_cache(const char *name, const char *timeout)
{
    const struct jg_env env = {.lock_timeout = timeout,
                               .xdg_runtime_dir = scratch};

    return jg_cache_open(in_scratch(name), &env, &counting);
}

static int take(const struct jg_cache *cache, const struct jg_key *of)
{
    return jg_cache_lock(cache, of, &counting);
}

/* Another process that has the key's lock, and a pipe it waits at. */
static pid_t start_holder(const struct jg_cache *cache, int pipes[2])
{
    char byte = 0;
    int ready[2];
    pid_t child;

    CHECK(pipe(pipes) == 0 && pipe(ready) == 0);
    child = fork();
    if (child == 0) {
        close(pipes[1]);
        if (take(cache, &key) < 0 || write(ready[1], &byte, 1) != 1)
            _exit(1);
        _exit(read(pipes[0], &byte, 1) != 0); /* until the end of file */
    }
    close(pipes[0]);
    close(ready[1]);
    CHECK_INT(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void test_exclusion(void)
{
    struct jg_cache *cache = open_cache("c", "0.2");
    int pipes[2], lock;
    double start = jg_clock_ms();
    pid_t child = start_holder(cache, pipes);

    warnings = 0;
    start = jg_clock_ms();
    CHECK_INT(jg_cache_counts(cache).lock_waits, 0);
    CHECK_INT(take(cache, &key), -1);
    CHECK_INT(jg_cache_counts(cache).lock_waits, 1);
    CHECK(jg_clock_ms() - start >= 200 && jg_clock_ms() - start < 5000);
    CHECK_INT(warnings, 1);
    CHECK_INT(take(cache, &key), -1);
    CHECK_INT(warnings, 1); /* once a cause */
    CHECK(put(cache) && get(cache)); /* nothing depends on it */
    start = jg_clock_ms();
    lock = take(cache, &other_key);
    CHECK(lock >= 0 && jg_clock_ms() - start < 200);
    CHECK_INT(jg_cache_counts(cache).lock_waits, 2);
    jg_cache_unlock(lock);

    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    close(pipes[1]);
    lock = take(cache, &key);
    CHECK(lock >= 0);
    CHECK_INT(take(cache, &key), -1); /* within a process too */
    jg_cache_unlock(lock);
    jg_cache_unlock(-1);
    jg_cache_close(cache);
}

/* A child forked while the lock is held shares it, but does not keep it. */
static void test_fork(void)
{
    struct jg_cache *cache = open_cache("c", "0");
    int lock = take(cache, &key);
    pid_t child = fork();

    if (child == 0)
        _exit((int)pause());
    CHECK_INT(take(cache, &key), -1);
    jg_cache_unlock(lock);
    lock = take(cache, &key);
    CHECK(lock >= 0);
    jg_cache_unlock(lock);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    jg_cache_close(cache);
}

static void test_timeout_text(void)
{
    static const char *const bad[] = {"-1", "soon", "5s", "1e9", "nan"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        warnings = 0;
        jg_cache_close(open_cache("c", bad[i]));
        CHECK_INT(warnings, 1);
    }
}

/* Where there can be no lock there is none, and no trouble. */
static void test_none(void)
{
    struct jg_cache *cache = open_cache("c", "0");
    int lock;

    warnings = 0;
    CHECK_INT(chmod(in_scratch("c/v1/l"), 0777), 0);
    CHECK_INT(take(cache, &key), -1);
    CHECK_INT(chmod(in_scratch("c/v1/l"), 0700), 0);
    jg_cache_close(cache);
    cache = open_cache("made", "0");
    lock = take(cache, &key); /* before any put */
    CHECK(lock >= 0);
    jg_cache_unlock(lock);
    jg_cache_close(cache);
    CHECK_INT(count_files(in_scratch("made")), 1);
    cache = jg_cache_open("", &(struct jg_env){.home = NULL}, &counting);
    CHECK_INT(take(cache, &key), -1);
    jg_cache_close(cache);
    CHECK_INT(warnings, 0);
}

int main(void)
{
    struct jg_key_fields fields = sample_fields;

    scratch_begin();
    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    fields.spec = "other";
    CHECK_INT(jg_key_make(&fields, &other_key), JITGEMM_OK);
    CHECK(strncmp(key.name, other_key.name, 2) != 0);
    test_exclusion();
    test_fork();
    test_timeout_text();
    test_none();
    jg_key_free(&other_key);
    jg_key_free(&key);
    scratch_end();
    return test_end();
}
