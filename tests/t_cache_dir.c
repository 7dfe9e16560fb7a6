/* SPDX-License-Identifier: MIT */
/* Where the cache is: the first directory that will do, made at the first
 * put. */
#define _GNU_SOURCE /* nftw */
#include <sys/wait.h>

#include "one_entry.h"
#include "scratch.h"

/* "" if there is no directory. Resets the warnings counted. */
static const char *chosen(const char *dir, const struct jg_env *env)
{
    static char directory[2 * PATH_MAX];
    struct jg_cache *cache;

    warnings = 0;
    cache = jg_cache_open(dir, env, &counting);
    CHECK(cache);
    snprintf(directory, sizeof directory, "%s",
             jg_cache_directory(cache) ? jg_cache_directory(cache) : "");
    if (!*directory)
        CHECK(!get(cache) && !put(cache));
    jg_cache_close(cache);
    return directory;
}

static void test_order(void)
{
    struct jg_env env = {.cache_dir = in_scratch("named"),
                         .xdg_cache_home = in_scratch("xdg"),
                         .home = in_scratch("home")};

    make_folder(in_scratch("home"), 0755);
    CHECK_STR(chosen(in_scratch("option/"), &env), in_scratch("option/v1"));
    CHECK_STR(chosen("", &env), "");
    CHECK_INT(warnings, 0);
    CHECK_STR(chosen("./relative", &env), "");
    CHECK_INT(warnings, 1);
    CHECK_STR(chosen(NULL, &env), in_scratch("named/v1"));
    env.untrusted = true;
    CHECK_STR(chosen(NULL, &env), "");
    CHECK_STR(chosen(in_scratch("option"), &env), "");
    env.untrusted = false;
    env.cache_dir = NULL;
    CHECK_STR(chosen(NULL, &env), in_scratch("xdg/jitgemm/v1"));
    env.xdg_cache_home = NULL;
    CHECK_STR(chosen(NULL, &env), in_scratch("home/.cache/jitgemm/v1"));
    CHECK_INT(warnings, 0);
    CHECK_INT(count_files(scratch), 0);
    CHECK(!exists(in_scratch("xdg")) && !exists(in_scratch("home/.cache")));
}

/* A named directory that cannot be used is not replaced by another. */
static void test_named(void)
{
    struct jg_env env = {.home = in_scratch("home")};
    char name[NAME_MAX + 2];

    make_folder(in_scratch("open"), 0777);
    make_folder(in_scratch("group"), 0770);
    write_file(in_scratch("file"), "", 0, 0600);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    const char *const bad[] = {in_scratch("open"), in_scratch("group"),
                               in_scratch("file"), in_scratch("no/parent"),
                               in_scratch(name),   in_scratch("file/below")};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_STR(chosen(bad[i], &env), "");
        CHECK_INT(warnings, 1);
        env.cache_dir = bad[i];
        CHECK_STR(chosen(NULL, &env), "");
        CHECK_INT(warnings, 1);
    }
    env.trust_group = true;
    CHECK_STR(chosen(in_scratch("group"), &env), in_scratch("group/v1"));
    CHECK_STR(chosen(in_scratch("open"), &env), "");
}

/* Implied ones fall through, at last to /tmp. */
static void test_implied(void)
{
    struct jg_env env = {.xdg_cache_home = in_scratch("open"),
                         .home = in_scratch("home")};
    const char *const homes[] = {NULL, "/", "//", in_scratch("absent"),
                                 in_scratch("file")};
    char own[40], last[50];

    make_folder(in_scratch("open/jitgemm"), 0777);
    CHECK_STR(chosen(NULL, &env), in_scratch("home/.cache/jitgemm/v1"));
    snprintf(own, sizeof own, "/tmp/jitgemm-%u", (unsigned)geteuid());
    snprintf(last, sizeof last, "%s/v1", own);
    env.xdg_cache_home = NULL;
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        env.home = homes[i];
        if (access("/tmp", W_OK) == 0 && !exists(own))
            CHECK_STR(chosen(NULL, &env), last);
        else
            CHECK(!strstr(chosen(NULL, &env), ".cache"));
    }
    if (geteuid() != 0)
        return;
    env.home = in_scratch("home"); /* as sudo leaves it */
    CHECK_INT(chown(in_scratch("home"), 65534, 65534), 0);
    CHECK(!strstr(chosen(NULL, &env), ".cache"));
    CHECK_INT(chown(in_scratch("home"), 0, 0), 0);
}

static void test_made(void)
{
    struct jg_env env = {.home = in_scratch("home")};
    struct jg_cache *cache = jg_cache_open(NULL, &env, &counting);

    warnings = 0;
    CHECK(!get(cache));
    CHECK(!exists(in_scratch("home/.cache")));
    CHECK(put(cache) && get(cache));
    CHECK_INT(mode_of(in_scratch("home/.cache")), S_IFDIR | 0700);
    CHECK_INT(mode_of(in_scratch("home/.cache/jitgemm")), S_IFDIR | 0700);
    CHECK_INT(warnings, 0);
    jg_cache_close(cache);
    env.trust_group = true;
    cache = jg_cache_open(in_scratch("shared"), &env, &counting);
    CHECK(put(cache) && get(cache));
    CHECK_INT(mode_of(in_scratch("shared/v1/e")), S_IFDIR | 0750);
    jg_cache_close(cache);
}

/* With the scratch folder as /, so that /tmp can be played with. */
static void test_tmp(void)
{
    struct jg_env env = {.home = "/"};
    struct jg_cache *cache;
    char own[40], directory[50];

    snprintf(own, sizeof own, "/tmp/jitgemm-%u", (unsigned)geteuid());
    snprintf(directory, sizeof directory, "%s/v1", own);
    make_folder("/tmp", 01777);
    CHECK_STR(chosen(NULL, &env), directory);
    CHECK(!exists(own));
    cache = jg_cache_open(NULL, &env, &counting);
    CHECK(put(cache) && get(cache));
    CHECK_INT(mode_of(own), S_IFDIR | 0700);
    jg_cache_close(cache);
    /* A link that anybody could have placed, to a folder of this user. */
    CHECK(rename(own, "/mine") == 0 && symlink("/mine", own) == 0);
    CHECK_STR(chosen(NULL, &env), "");
    CHECK_INT(warnings, 1);
    CHECK_INT(unlink(own), 0);
    make_folder(own, 0777);
    CHECK_STR(chosen(NULL, &env), "");
    CHECK_INT(chmod(own, 0700), 0);
    CHECK_INT(chown(own, 65534, 65534), 0);
    CHECK_STR(chosen(NULL, &env), "");
    CHECK_INT(chmod("/tmp", 01777), 0);
    /* A user whom no file of users knows; there is none here anyway. */
    CHECK_INT(chmod("/", 0755), 0);
    CHECK(setgid(54321) == 0 && setuid(54321) == 0);
    CHECK_STR(chosen(NULL, &env), "/tmp/jitgemm-54321/v1");
    CHECK_INT(warnings, 0);
    cache = jg_cache_open(NULL, &env, &counting);
    CHECK(put(cache) && get(cache));
    jg_cache_close(cache);
    scratch_clear("/tmp/jitgemm-54321");
}

int main(void)
{
    int status = -1;
    pid_t child;

    scratch_begin();
    CHECK_INT(jg_key_make(&sample_fields, &key), JITGEMM_OK);
    test_order();
    test_named();
    test_implied();
    test_made();
    if (geteuid() == 0 && (child = fork()) >= 0) {
        if (child == 0) {
            CHECK(chroot(scratch) == 0 && chdir("/") == 0);
            if (!test_failures)
                test_tmp();
            _exit(test_failures != 0);
        }
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK_INT(status, 0);
    }
    jg_key_free(&key);
    scratch_end();
    return test_end();
}
