/* SPDX-License-Identifier: MIT */
/* A file system that fails for a while, a disk that is full, a clock that is
 * wrong. openat, renameat, write and time are replaced here by ones that do
 * what they are told. */
#define _GNU_SOURCE /* nftw, syscall */
#undef _FORTIFY_SOURCE /* its inline functions would be in the way */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

#include "one_entry.h"
#include "scratch.h"

/* The next `times` calls fail with `error`, those before `after` excepted. */
static struct fault {
    int after, times, error;
} on_open, on_rename, on_write;

static time_t clock_error; /* seconds */
static long long disk_room = LLONG_MAX; /* bytes that can be written */

static bool fails(struct fault *fault)
{
    if (fault->after-- > 0 || fault->times <= 0)
        return false;
    fault->times--;
    errno = fault->error;
    return true;
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list rest;
    mode_t mode = 0;

    va_start(rest, flags);
    if (flags & O_CREAT)
        mode = va_arg(rest, mode_t);
    va_end(rest);
    return fails(&on_open)
               ? -1
               : (int)syscall(SYS_openat, folder, name, flags, mode);
}

int renameat(int from, const char *old, int to, const char *name)
{
    return fails(&on_rename)
               ? -1
               : (int)syscall(SYS_renameat2, from, old, to, name, 0);
}

/* Up to where the disk is full, as a disk does. */
ssize_t write(int fd, const void *data, size_t size)
{
    if (disk_room <= 0 || fails(&on_write)) {
        errno = ENOSPC;
        return -1;
    }
    if ((long long)size > disk_room)
        size = (size_t)disk_room;
    disk_room -= (long long)size;
    return syscall(SYS_write, fd, data, size);
}

time_t time(time_t *to)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += clock_error;
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}

static struct jg_cache *open_cache(void)
{
    const struct jg_env env = {.cache_ro_path = ":", .lock_timeout = "0"};

    warnings = 0;
    return jg_cache_open(in_scratch("c"), &env, &counting);
}

/* Stale at each step of the way: once is seen by nobody; twice is a miss, or
 * a put that warns. */
static void test_stale(void)
{
    static const int errors[] = {ESTALE, EBUSY};
    struct jg_cache *cache = open_cache();
    int faults = 0;

    CHECK(put(cache));
    for (int i = 0; i < 2; i++) {
        /* BASE, v1, e, its shard, the entry */
        for (int step = 0; step < 5; step++, faults++) {
            on_open = (struct fault){step, 1, errors[i]};
            CHECK(get(cache));
            CHECK_INT(on_open.times, 0);
        }
        on_open = (struct fault){4, 6, errors[i]};
        CHECK(!get(cache));
        /* the entry, BASE the second time, and who says why it was missed */
        CHECK_INT(on_open.times, 3);
        on_open.times = 0;
        CHECK(get(cache));
        on_rename = (struct fault){0, 1, errors[i]};
        CHECK(put(cache));
        CHECK_INT(on_rename.times, 0);
        CHECK_INT(warnings, i);
        on_rename = (struct fault){0, 2, errors[i]};
        CHECK(!put(cache));
        CHECK_INT(warnings, 1);
        CHECK(get(cache)); /* the one before */
        CHECK_INT(count_files(in_scratch("c/v1/t")), 0);
    }
    printf("stale or busy: %d faults on the way to an entry\n", faults);
    jg_cache_close(cache);
}

/* Full after each number of bytes: an entry is there whole or not at all, and
 * the one before stays. */
static void test_full(void)
{
    struct jg_cache *cache = open_cache();
    struct jg_buf bytes = {.data = NULL};
    struct jg_entry entry = sample_entry(&key);
    long long size;

    jg_entry_encode(&entry, &bytes);
    size = (long long)bytes.size;
    jg_buf_free(&bytes);
    jg_cache_close(cache);
    for (long long room = 0; room <= size; room++) {
        bool there = room & 1;

        scratch_clear(in_scratch("c"));
        cache = open_cache();
        disk_room = LLONG_MAX;
        CHECK(!there || put(cache));
        disk_room = room;
        CHECK_INT(put(cache), room >= size);
        /* Another process would find the same. */
        CHECK_INT(warnings, room < size);
        CHECK_INT(count_files(in_scratch("c/v1/t")), 0);
        if (room >= size)
            CHECK(get(cache));
        disk_room = LLONG_MAX;
        CHECK_INT(put(cache), room >= size); /* it has given up */
        jg_cache_close(cache);
        cache = open_cache();
        CHECK(put(cache) && get(cache));
        jg_cache_close(cache);
    }
    printf("full disk: after each of %lld bytes\n", size);
    /* Full once: old entries go, and there is room. */
    cache = open_cache();
    on_write = (struct fault){0, 1, ENOSPC};
    CHECK(put(cache) && get(cache));
    CHECK_INT(on_write.times, 0);
    CHECK_INT(warnings, 0);
    jg_cache_close(cache);
}

/* The clock a day off in either direction, then right again. */
static void test_clock(void)
{
    static const time_t errors[] = {90000, -90000, 0};
    struct jg_evicted evicted;

    for (int i = 0; i < 3; i++) {
        struct jg_cache *cache = open_cache();

        clock_error = errors[i];
        CHECK(put(cache) && get(cache) && get(cache));
        /* A file of a writer at work is young by the file system's clock. */
        write_file(in_scratch("c/v1/t/young"), "x", 1, 0600);
        CHECK_INT(jg_cache_prune(cache, UINT64_MAX, false, NULL, &evicted), 0);
        CHECK_INT(evicted.swept, 0);
        CHECK_INT(evicted.entries, 1);
        CHECK(exists(in_scratch("c/v1/t/young")));
        CHECK_INT(warnings, 0);
        jg_cache_close(cache);
    }
}

int main(void)
{
    if (chdir("/dev/shm") != 0) /* in memory, many syncs take no time */
        printf("on disk\n");
    scratch_begin();
    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    test_stale();
    test_full();
    test_clock();
    jg_key_free(&key);
    scratch_end();
    return test_end();
}
