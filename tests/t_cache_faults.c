/* SPDX-License-Identifier: MIT */
/* A file system that fails for a while. openat, renameat and write are
 * replaced here by ones that do when told to. */
#define _GNU_SOURCE /* nftw, syscall */
#undef _FORTIFY_SOURCE /* its inline functions would be in the way */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "one_entry.h"
#include "scratch.h"

/* The next `times` calls fail with `error`, those before `after` excepted. */
static struct fault {
    int after, times, error;
} on_open, on_rename;

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

static struct jg_cache *open_cache(void)
{
    const struct jg_env env = {.lock_timeout = "0"};

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
        CHECK_INT(on_open.times, 4); /* the entry, and BASE the second time */
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

int main(void)
{
    scratch_begin();
    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    test_stale();
    jg_key_free(&key);
    scratch_end();
    return test_end();
}
