/* SPDX-License-Identifier: MIT */
/* The folder stays small: the least recently used go, whatever the clocks
 * say, and what dead writers left is swept. */
#define _GNU_SOURCE /* nftw */
#include <errno.h>
#include <sys/wait.h>

#include "entries.h"
#include "file.h"
#include "lock.h"

enum { PROCESSES = 8, DAY = 24 * 60 * 60 };

static uint64_t disk_bytes(const char *folder)
{
    uint64_t bytes = 0;
    struct stat info;

    for (int i = 0; i < COUNT; i++)
        if (lstat(path_of(folder, i), &info) == 0)
            bytes += (uint64_t)info.st_blocks * 512;
    return bytes;
}

/* Fills a folder without a limit, the first the oldest, a minute apart. */
static void fill(const char *name)
{
    struct jg_cache *cache = open_cache(name, "0");

    for (int i = 0; i < COUNT; i++) {
        CHECK(put_key(cache, i));
        set_age(path_of(name, i), 60 * (COUNT - i) + 7200);
    }
    jg_cache_close(cache);
    CHECK_INT(count_files(in_scratch(name)), COUNT + 1); /* and the tag */
}

static void test_limit(void)
{
    struct jg_cache *cache = open_cache("limit", "400K");
    uint64_t most = 0;

    for (int i = 0; i < COUNT; i++) {
        uint64_t now;

        CHECK(put_key(cache, i));
        set_age(path_of("limit", i), 3600 - i);
        now = disk_bytes("limit");
        most = now > most ? now : most;
        CHECK(get_key(cache, i)); /* the newest stays */
    }
    printf("limit 400 KiB: at most %llu KiB there after a put\n",
           (unsigned long long)most >> 10);
    CHECK(most <= 400 << 10 && most > 300 << 10);
    CHECK_INT(warnings, 0);
    jg_cache_close(cache);
}

/* Processes that fill it at a time pass the limit by an entry each at most. */
static void test_many(void)
{
    struct jg_cache *cache = open_cache("many", "400K");
    struct jg_evicted evicted;
    int status;

    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            bool good = true;

            for (int j = 0; j < COUNT; j++)
                good = put_key(cache, (i * COUNT / PROCESSES + j) % COUNT) &&
                       good;
            _exit(!good || warnings);
        }
    }
    for (int i = 0; i < PROCESSES; i++)
        CHECK(wait(&status) > 0 && status == 0);
    CHECK_INT(jg_cache_prune(cache, UINT64_MAX, true, NULL, &evicted), 0);
    printf("%d processes, limit 400 KiB: %llu KiB there in the end\n",
           PROCESSES, (unsigned long long)evicted.bytes >> 10);
    CHECK(evicted.bytes > 200 << 10);
    CHECK(evicted.bytes <= (400 << 10) + PROCESSES * (ENTRY_BYTES + 4096));
    CHECK_INT(count_files(in_scratch("many/v1/t")), 0);
    jg_cache_close(cache);
}

static void test_order(void)
{
    struct jg_cache *cache;
    struct jg_evicted evicted;
    char others[2 * PATH_MAX];
    uint64_t before;

    fill("order");
    snprintf(others, sizeof others, "%s", path_of("order", 0));
    strcpy(strrchr(others, '/'), "/others");
    write_file(others, "x", 1, 0600);
    before = disk_bytes("order");
    cache = open_cache("order", NULL);
    CHECK(get_key(cache, 0)); /* the oldest is in use */
    set_age(path_of("order", 1), -DAY); /* by a clock that is ahead */
    CHECK_INT(jg_cache_prune(cache, before / 2, true, &counting, &evicted), 0);
    CHECK_INT(evicted.entries, COUNT);
    CHECK_INT(evicted.bytes, before);
    CHECK_INT(evicted.removed, COUNT / 2);
    CHECK_INT(disk_bytes("order"), before);
    CHECK_INT(jg_cache_prune(cache, before / 2, false, &counting, &evicted),
              0);
    CHECK_INT(evicted.removed, COUNT / 2);
    CHECK_INT(evicted.removed_bytes, before - disk_bytes("order"));
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(get_key(cache, i), i < 2 || i >= COUNT / 2 + 2);
    CHECK_INT(jg_cache_prune(cache, UINT64_MAX, false, NULL, &evicted), 0);
    CHECK_INT(evicted.removed, 0);
    CHECK_INT(jg_cache_prune(cache, 0, false, NULL, &evicted), 0);
    CHECK_INT(evicted.entries, COUNT / 2);
    CHECK_INT(evicted.removed, COUNT / 2);
    CHECK_INT(jg_cache_counts(cache).evicted, COUNT);
    CHECK_INT(disk_bytes("order"), 0);
    CHECK(exists(others)); /* no entry, so not ours to remove */
    CHECK_INT(warnings, 0);
    jg_cache_close(cache);
}

/* Used or replaced while the evictor removes others: its log says when. */
static void touch_last(void *user, int level, const char *line)
{
    (void)user;
    if (level == JITGEMM_LOG_INFO && strstr(line, keys[0].name))
        set_age(path_of("race", 1), 0);
}

static void test_race(void)
{
    const struct jg_log log = {touch_last, NULL, JITGEMM_LOG_DEBUG};
    struct jg_evicted evicted;
    struct jg_cache *cache;

    fill("race");
    cache = open_cache("race", NULL);
    CHECK_INT(jg_cache_prune(cache, 0, false, &log, &evicted), 0);
    CHECK_INT(evicted.removed, COUNT - 1);
    CHECK(get_key(cache, 1));
    jg_cache_close(cache);
}

static void test_sweep(void)
{
    struct jg_cache *cache = open_cache("order", "1M");
    struct jg_evicted evicted;
    int times = 2;

    CHECK(put_key(cache, 0));
    make_folder(in_scratch("order/v1/q"), 0700);
    write_file(in_scratch("order/v1/t/old"), "x", 1, 0600);
    write_file(in_scratch("order/v1/t/new"), "x", 1, 0600);
    write_file(in_scratch("order/v1/q/old"), "x", 1, 0600);
    write_file(in_scratch("order/v1/q/new"), "x", 1, 0600);
    set_age(in_scratch("order/v1/t/old"), DAY + 60);
    set_age(in_scratch("order/v1/q/old"), DAY + 60);
    set_age(in_scratch("order/v1/t/new"), DAY - 60);
    set_age(in_scratch("order/v1/q/new"), -DAY);
    while (times--) {
        CHECK_INT(jg_cache_prune(cache, UINT64_MAX, times, NULL, &evicted), 0);
        CHECK_INT(evicted.swept, 2);
        CHECK_INT(count_files(in_scratch("order/v1/t")), 1 + times);
        CHECK_INT(count_files(in_scratch("order/v1/q")), 1 + times);
    }
    CHECK(exists(in_scratch("order/v1/t/new")));
    CHECK(exists(in_scratch("order/v1/q/new")));
    jg_cache_close(cache);
}

/* One evictor at a time: another's lock is no reason to wait or to fail. */
static void test_one(void)
{
    struct jg_cache *cache = open_cache("one", "1K");
    struct jg_evicted evicted;
    int folder, lock;

    CHECK(put_key(cache, 0) && !get_key(cache, 0));
    CHECK_INT(jg_file_open_folder(AT_FDCWD, in_scratch("one/v1/l"), 0,
                                  &folder),
              0);
    CHECK_INT(jg_lock_take(folder, "evict", 0, 0, &lock), 0);
    CHECK(put_key(cache, 0) && get_key(cache, 0));
    CHECK_INT(jg_cache_prune(cache, 0, false, NULL, &evicted), EWOULDBLOCK);
    jg_lock_release(lock);
    close(folder);
    CHECK(put_key(cache, 1) && !get_key(cache, 0) && !get_key(cache, 1));
    CHECK_INT(warnings, 0);
    jg_cache_close(cache);
}

int main(void)
{
    scratch_begin();
    make_keys();
    test_limit();
    fflush(stdout);
    test_many();
    test_order();
    test_race();
    test_sweep();
    test_one();
    free_keys();
    scratch_end();
    return test_end();
}
