/* SPDX-License-Identifier: MIT */
/* A process that is killed between any two system calls of a publish leaves
 * the old entry, the new one or none, and nothing that hinders the next. */
#define _GNU_SOURCE /* nftw */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "one_entry.h"
#include "scratch.h"

static struct jg_cache *open_cache(void)
{
    const struct jg_env env = {.cache_ro_path = ":", .lock_timeout = "0"};

    return jg_cache_open(in_scratch("c"), &env, &counting);
}

/* What a new process that misses does, the look at the folder's size
 * included; `registers` tells its entry from others. */
static void publish(uint32_t registers)
{
    struct jg_cache *cache = open_cache();
    struct jg_entry entry = sample_entry(&key);
    int lock = jg_cache_lock(cache, &key, NULL);

    entry.registers = registers;
    jg_cache_put(cache, &key, &entry, NULL);
    jg_cache_unlock(lock);
    jg_cache_close(cache);
}

/* Runs a child that publishes, and kills it at its `stop`-th stop at the
 * start or end of a system call. False if it ended before. */
static bool publish_until(int stop, uint32_t registers)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(TEST_SKIP);
        raise(SIGSTOP);
        publish(registers);
        _exit(0);
    }
    for (int i = 0; i <= stop; i++) {
        CHECK_INT(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status)) {
            if (WEXITSTATUS(status) == TEST_SKIP)
                exit(TEST_SKIP);
            CHECK_INT(status, 0);
            return false;
        }
        if (i < stop)
            ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    }
    kill(child, SIGKILL);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    return true;
}

/* The registers of the entry there is; 0 for none. */
static uint32_t found(void)
{
    struct jg_cache *cache = open_cache();
    struct jg_entry entry = {.registers = 0};
    void *file = NULL;

    jg_cache_get(cache, &key, JITGEMM_SOURCE_NONE, &entry, &file, &counting);
    free(file);
    jg_cache_close(cache);
    return entry.registers;
}

/* Over an entry with `before` registers, or over nothing. */
static void kill_at_each(uint32_t before)
{
    int kills = 0, kept = 0, left = 0;
    bool killed = true;

    while (killed) {
        uint32_t now;

        scratch_clear(in_scratch("c"));
        if (before)
            publish(before);
        killed = publish_until(kills, 2);
        now = found();
        CHECK(now == before || now == 2);
        CHECK(killed || now == 2);
        kept += now == before;
        kills += killed;
        if (exists(in_scratch("c/v1/t")))
            left += count_files(in_scratch("c/v1/t"));
        publish(3);
        CHECK_INT(found(), 3);
    }
    printf("over %s: %d kills, of which %d kept it; %d temporaries left\n",
           before ? "an entry" : "nothing", kills, kept, left);
    CHECK(kills > 40 && kept > 20 && kept < kills && left > 0);
}

int main(void)
{
    if (chdir("/dev/shm") != 0) /* in memory, many syncs take no time */
        printf("on disk\n");
    scratch_begin();
    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    kill_at_each(0);
    kill_at_each(1);
    CHECK_INT(warnings, 0);
    jg_key_free(&key);
    scratch_end();
    return test_end();
}
