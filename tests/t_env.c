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
                                    "JITGEMM_CACHE_MAX_SIZE",
                                    "JITGEMM_CACHE_RO_PATH",
                                    "JITGEMM_LOCK_TIMEOUT",
                                    "JITGEMM_MODE",
                                    "JITGEMM_JOBS",
                                    "XDG_CACHE_HOME",
                                    "XDG_RUNTIME_DIR",
                                    "HOME",
                                    "JITGEMM_LIBCUDA",
                                    "JITGEMM_LIBNVRTC",
                                    "JITGEMM_ANY_NVRTC",
                                    "JITGEMM_COMPILE_TIMEOUT",
                                    "JITGEMM_KEEP_SRC",
                                    "JITGEMM_LINEINFO",
                                    "VIRTUAL_ENV",
                                    "CUDA_HOME",
                                    "CUDA_PATH"};

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
    CHECK(!env.xdg_runtime_dir && !env.lock_timeout);
    CHECK(!env.cache_ro_path && !env.cache_max_size && !env.mode);
    CHECK(!env.home && !env.libcuda && !env.libnvrtc);
    CHECK(!env.any_nvrtc && !env.virtual_env && !env.line_info);
    CHECK(!env.compile_timeout && !env.keep_source);
    CHECK(!env.cuda_home && !env.cuda_path);
    CHECK_INT(env.jobs, 0);
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
    CHECK(!env.xdg_runtime_dir);
    CHECK(!env.virtual_env && !env.cuda_home && !env.cuda_path);
    CHECK(!env.keep_source);
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
    CHECK_STR(env.xdg_runtime_dir, "/XDG_RUNTIME_DIR");
    CHECK_STR(env.cache_ro_path, "/JITGEMM_CACHE_RO_PATH");
    CHECK_STR(env.cache_max_size, "/JITGEMM_CACHE_MAX_SIZE");
    CHECK_STR(env.mode, "/JITGEMM_MODE");
    CHECK_STR(env.lock_timeout, "/JITGEMM_LOCK_TIMEOUT");
    CHECK_STR(env.home, "/HOME");
    CHECK_STR(env.libcuda, "/JITGEMM_LIBCUDA");
    CHECK_STR(env.libnvrtc, "/JITGEMM_LIBNVRTC");
    CHECK_STR(env.virtual_env, "/VIRTUAL_ENV");
    CHECK_STR(env.keep_source, "/JITGEMM_KEEP_SRC");
    CHECK_STR(env.cuda_home, "/CUDA_HOME");
    CHECK_STR(env.cuda_path, "/CUDA_PATH");
    CHECK_INT(env.log_level, 0);
    CHECK(!env.trust_group && !env.any_nvrtc && !env.line_info);

    CHECK_INT(setenv("JITGEMM_LOG", "3", 1), 0);
    CHECK_INT(setenv("JITGEMM_CACHE_TRUST_GROUP", "1", 1), 0);
    CHECK_INT(setenv("JITGEMM_ANY_NVRTC", "1", 1), 0);
    CHECK_INT(setenv("JITGEMM_COMPILE_TIMEOUT", "30", 1), 0);
    CHECK_INT(setenv("JITGEMM_LINEINFO", "1", 1), 0);
    env = jg_env_read();
    CHECK_INT(env.log_level, 3);
    CHECK_INT(env.compile_timeout, 30);
    CHECK(env.trust_group && env.any_nvrtc && env.line_info);
    CHECK_INT(setenv("JITGEMM_CACHE_TRUST_GROUP", "0", 1), 0);
    CHECK(!jg_env_read().trust_group);
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
