/* SPDX-License-Identifier: MIT */
/* The environment: unset, empty and relative values read as NULL; under
 * setuid nothing is read. */
#define _GNU_SOURCE /* nftw */
#include "env.h"

#include <sys/wait.h>

#include "scratch.h"

static const char *const names[] = {"JITGEMM_LOG",
                                    "JITGEMM_CACHE_TRUST_GROUP",
                                    "JITGEMM_CACHE_DIR",
                                    "JITGEMM_MODE",
                                    "JITGEMM_JOBS",
                                    "XDG_CACHE_HOME",
                                    "HOME",
                                    "JITGEMM_LIBCUDA",
                                    "JITGEMM_LIBNVRTC"};

enum { NAMES = sizeof names / sizeof *names, NO_SETUID = 3 };

static void set_all(const char *value)
{
    for (int i = 0; i < NAMES; i++)
        CHECK_INT(value ? setenv(names[i], value, 1) : unsetenv(names[i]), 0);
}

static void expect_nothing(void)
{
    struct jg_env env = jg_env_read();

    CHECK_INT(env.log_level, 0);
    CHECK(!env.trust_group && !env.cache_dir && !env.xdg_cache_home);
    CHECK(!env.home && !env.libcuda && !env.libnvrtc);
    CHECK(!env.strict && !env.jobs);
}

static void test_values(void)
{
    struct jg_env env;

    set_all(NULL);
    expect_nothing();
    CHECK(!jg_env_read().untrusted);
    set_all("");
    expect_nothing();

    set_all("relative/path");
    env = jg_env_read();
    CHECK(!env.cache_dir && !env.xdg_cache_home && !env.home);
    CHECK_STR(env.libcuda, "relative/path"); /* dlopen may search for it */
    CHECK_STR(env.libnvrtc, "relative/path");

    for (int i = 0; i < NAMES; i++) {
        char value[80];

        snprintf(value, sizeof value, "/%s", names[i]);
        CHECK_INT(setenv(names[i], value, 1), 0);
    }
    env = jg_env_read();
    CHECK_STR(env.cache_dir, "/JITGEMM_CACHE_DIR");
    CHECK_STR(env.xdg_cache_home, "/XDG_CACHE_HOME");
    CHECK_STR(env.home, "/HOME");
    CHECK_STR(env.libcuda, "/JITGEMM_LIBCUDA");
    CHECK_STR(env.libnvrtc, "/JITGEMM_LIBNVRTC");
    CHECK_INT(env.log_level, 0);
    CHECK(!env.trust_group && !env.strict);

    CHECK_INT(setenv("JITGEMM_LOG", "3", 1), 0);
    CHECK_INT(setenv("JITGEMM_CACHE_TRUST_GROUP", "1", 1), 0);
    env = jg_env_read();
    CHECK_INT(env.log_level, 3);
    CHECK(env.trust_group);
    CHECK_INT(setenv("JITGEMM_CACHE_TRUST_GROUP", "0", 1), 0);
    CHECK(!jg_env_read().trust_group);
    CHECK_INT(setenv("JITGEMM_MODE", "strict", 1), 0);
    CHECK(jg_env_read().strict);
    CHECK_INT(setenv("JITGEMM_JOBS", "7", 1), 0);
    CHECK_INT(jg_env_read().jobs, 7);
}

/* Runs a copy of this program that is setuid to one user (not to root) as
 * another, which only root can. */
static void test_setuid(void)
{
    const char *copy = in_scratch("t_env");
    size_t size;
    void *program = read_file("/proc/self/exe", &size);
    int status = -1;
    pid_t child;

    set_all("/1");
    chmod(scratch, 0711);
    write_file(copy, program, size, 0755);
    CHECK(chown(copy, 65533, 65533) == 0 && chmod(copy, 04755) == 0);
    free(program);
    child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(NO_SETUID);
        execl(copy, copy, "setuid", (char *)NULL);
        _exit(NO_SETUID);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SETUID)
        printf("not tried: setuid programs do not run here\n");
    else
        CHECK_INT(status, 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "setuid") == 0) {
        if (geteuid() == getuid())
            _exit(NO_SETUID);
        CHECK(jg_env_read().untrusted);
        expect_nothing();
        _exit(test_failures != 0);
    }
    scratch_begin();
    test_values();
    if (geteuid() == 0)
        test_setuid();
    scratch_end();
    return test_end();
}
