/* SPDX-License-Identifier: MIT */
/* What the cache makes of what it cannot use or must not trust: a miss, one
 * warning a cause, and nothing written elsewhere. */
#define _GNU_SOURCE /* nftw, syscall */
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "one_entry.h"
#include "scratch.h"

/* The folders for temporaries, locks and bad entries as links to elsewhere:
 * nothing goes there. */
static void test_helpers(void)
{
    static const char *const parts[] = {"c/v1/t", "c/v1/l", "c/v1/q"};
    const struct jg_env env = {.lock_timeout = "0"};
    struct jg_cache *cache = jg_cache_open(in_scratch("c"), &env, &counting);
    char entry[80];

    snprintf(entry, sizeof entry, "c/v1/e/%.2s/%s.jgc", key.name, key.name);
    make_folder(in_scratch("elsewhere"), 0700);
    for (int i = 0; i < 3; i++) {
        scratch_clear(in_scratch(parts[i]));
        CHECK_INT(symlink(in_scratch("elsewhere"), in_scratch(parts[i])), 0);
    }
    CHECK_INT(jg_cache_lock(cache, &key, &counting), -1);
    CHECK(!put(cache) && get(cache));
    write_file(in_scratch(entry), "damaged", 7, 0600);
    CHECK(!get(cache) && exists(in_scratch(entry)));
    CHECK_INT(count_files(in_scratch("elsewhere")), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(unlink(in_scratch(parts[i])), 0);
    CHECK(!get(cache) && !exists(in_scratch(entry))); /* in q now */
    CHECK(put(cache) && get(cache));
    jg_cache_close(cache);
}

/* Each component in turn: a link to elsewhere, open to all, not a folder. */
static void test_components(void)
{
    const struct jg_env env = {.untrusted = false};
    struct jg_cache *cache;
    char shard[20], entry[80];
    const char *const parts[] = {"c/v1", "c/v1/e", shard, entry};

    snprintf(shard, sizeof shard, "c/v1/e/%.2s", key.name);
    snprintf(entry, sizeof entry, "%s/%s.jgc", shard, key.name);
    cache = jg_cache_open(in_scratch("c"), &env, &counting);
    CHECK(put(cache) && get(cache));
    jg_cache_close(cache);
    for (int i = 0; i < 4; i++) {
        const char *part = in_scratch(parts[i]), *away = in_scratch("away");
        mode_t mode = mode_of(part) & 0777;

        cache = jg_cache_open(in_scratch("c"), &env, &counting);
        warnings = 0;
        CHECK(chmod(part, mode | 022) == 0 && !get(cache));
        CHECK_INT(put(cache), i == 3); /* a file is replaced */
        CHECK_INT(warnings, i == 3 ? 1 : 2);
        CHECK(chmod(part, mode) == 0 && get(cache));
        if (geteuid() == 0) {
            CHECK(chown(part, 65534, 65534) == 0 && !get(cache));
            CHECK_INT(put(cache), i == 3);
            CHECK(chown(part, 0, 0) == 0 && get(cache));
        }
        CHECK(rename(part, away) == 0 && symlink(away, part) == 0);
        CHECK(!get(cache));
        CHECK_INT(put(cache), i == 3);
        CHECK(get(cache) == (i == 3));
        unlink(part);
        CHECK(rename(away, part) == 0 && get(cache));
        jg_cache_close(cache);
    }
    test_helpers();
    /* The base may be a link, for the user put it there. */
    CHECK_INT(symlink(in_scratch("c"), in_scratch("link")), 0);
    cache = jg_cache_open(in_scratch("link"), &env, &counting);
    CHECK(get(cache) && put(cache));
    jg_cache_close(cache);
}

/* Gives up root's right to pass over permission bits. */
static void obey_permissions(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};

    CHECK_INT(syscall(SYS_capset, &head, none), 0);
}

static void test_refused(void)
{
    const struct jg_env env = {.untrusted = false};
    struct jg_cache *cache;
    struct rlimit limit = {200, 200}; /* bytes: below an entry's size */
    char entry[80];
    const char *path;

    obey_permissions();
    snprintf(entry, sizeof entry, "c/v1/e/%.2s/%s.jgc", key.name, key.name);
    path = in_scratch(entry);
    cache = jg_cache_open(in_scratch("c"), &env, &counting);
    warnings = 0;
    CHECK(chmod(path, 0) == 0 && !get(cache) && !get(cache));
    CHECK_INT(warnings, 1);
    CHECK(put(cache) && get(cache));
    CHECK_INT(chmod(in_scratch("c/v1/t"), 0500), 0);
    CHECK(!put(cache) && !put(cache) && get(cache));
    CHECK_INT(warnings, 2);
    CHECK_INT(chmod(in_scratch("c/v1/t"), 0700), 0);
    CHECK_INT(chmod(in_scratch("c/v1/q"), 0500), 0);
    write_file(path, "damaged", 7, 0600);
    CHECK(!get(cache) && exists(path));
    CHECK_INT(warnings, 3);
    CHECK(put(cache) && get(cache));
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK(!put(cache) && !put(cache) && get(cache));
    CHECK_INT(warnings, 4); /* a full disk is a cause of its own */
    CHECK_INT(count_files(in_scratch("c/v1/t")), 0);
    jg_cache_close(cache);
    make_folder(in_scratch("full"), 0500);
    cache = jg_cache_open(in_scratch("full/c"), &env, &counting);
    CHECK(!jg_cache_directory(cache) && !get(cache) && !put(cache));
    CHECK_INT(warnings, 5);
    jg_cache_close(cache);
}

int main(void)
{
    int status = -1;
    pid_t child;

    scratch_begin();
    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    test_components();
    child = fork();
    if (child == 0) {
        test_refused();
        _exit(test_failures != 0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    chmod(in_scratch("c/v1/q"), 0700);
    jg_key_free(&key);
    scratch_end();
    return test_end();
}
