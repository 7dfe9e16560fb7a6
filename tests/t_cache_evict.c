/* SPDX-License-Identifier: MIT */
/* The folder stays small: the least recently used go, whatever the clocks
 * say; what dead writers left is swept; a full disk costs no more than old
 * entries. */
#define _GNU_SOURCE /* nftw, unshare */
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>

#include "file.h"
#include "lock.h"
#include "one_entry.h"
#include "scratch.h"
#include "settings.h"

enum {
    COUNT = 40,
    ENTRY_BYTES = 20 << 10,
    PROCESSES = 8,
    DAY = 24 * 60 * 60
};

static struct jg_key keys[COUNT];
static unsigned char cubin[ENTRY_BYTES - 1024];

static struct jg_cache *open_cache(const char *name, const char *max_size)
{
    const struct jg_env env = {.cache_ro_path = ":",
                               .lock_timeout = "0",
                               .cache_max_size = max_size};

    warnings = 0;
    return jg_cache_open(in_scratch(name), &env, &counting);
}

static bool put_key(const struct jg_cache *cache, int i)
{
    struct jg_entry entry = sample_entry(&keys[i]);

    entry.cubin = (struct jg_span){cubin, sizeof cubin};
    return jg_cache_put(cache, &keys[i], &entry, &counting);
}

static bool get_key(const struct jg_cache *cache, int i)
{
    struct jg_entry entry;
    void *file = NULL;
    bool hit = jg_cache_get(cache, &keys[i], JITGEMM_SOURCE_NONE, &entry,
                            &file, &counting);

    free(file);
    return hit;
}

static const char *path_of(const char *folder, int i)
{
    char rest[100];

    snprintf(rest, sizeof rest, "%s/v1/e/%.2s/%s.jgc", folder, keys[i].name,
             keys[i].name);
    return in_scratch(rest);
}

static void set_age(const char *path, long long seconds)
{
    struct timespec times[2] = {{0, UTIME_OMIT}, {time(NULL) - seconds, 0}};

    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

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

static void test_sizes(void)
{
    static const struct {
        const char *text;
        uint64_t bytes;
        int warnings;
    } rows[] = {
        {NULL, 1 << 30, 0},     {"0", UINT64_MAX, 0},   {"123", 123, 0},
        {"7K", 7 << 10, 0},     {"0G", UINT64_MAX, 0},  {"5M", 5 << 20, 0},
        {"1T", 1 << 30, 1},     {"-1", 1 << 30, 1},     {"K", 1 << 30, 1},
        {"1KB", 1 << 30, 1},    {" 1", 1 << 30, 1},     {"1.5G", 1 << 30, 1},
        {"17179869183G", 17179869183ULL << 30, 0},
        {"17179869184G", 1 << 30, 1},
        {"99999999999999999999", 1 << 30, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct jg_env env = {.cache_max_size = rows[i].text};

        warnings = 0;
        CHECK(jg_settings_read(&env, &counting).max_bytes == rows[i].bytes);
        CHECK_INT(warnings, rows[i].warnings);
    }
}

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

static void test_disk(void)
{
    char folder[2 * PATH_MAX];
    int status = -1;
    pid_t child;

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
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIP)
        printf("not tried: file systems cannot be mounted here\n");
    else
        CHECK_INT(status, 0);
}

int main(void)
{
    scratch_begin();
    memcpy(cubin, sample_cubin, sizeof sample_cubin);
    for (int i = 0; i < COUNT; i++) {
        struct jg_key_fields fields = sample_fields;
        char spec[20];

        snprintf(spec, sizeof spec, "%d", i);
        fields.spec = spec;
        CHECK_INT(jg_key_make(&fields, &keys[i]), JITGEMM_OK);
    }
    test_sizes();
    test_limit();
    fflush(stdout);
    test_many();
    test_order();
    test_race();
    test_sweep();
    test_one();
    fflush(stdout);
    test_disk();
    for (int i = 0; i < COUNT; i++)
        jg_key_free(&keys[i]);
    scratch_end();
    return test_end();
}
