/* SPDX-License-Identifier: MIT */
/* Many processes, cold cache, the same keys: one compile a key a machine.
 * Then the same on two machines that share a network file system, which
 * openat, renameat and fstatfs are made to look like here: handles get stale,
 * and what one machine publishes the other sees late. */
#define _GNU_SOURCE /* nftw, syscall */
#undef _FORTIFY_SOURCE /* its inline openat() would be in the way */
#include "registry.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

#include "clock.h"
#include "fake/fakes.h"
#include "plan.h"
#include "scratch.h"

enum { PROCESSES = 64, KEYS = 20, MACHINES = 2, LATE_MS = 40 };

static struct shared { /* by all processes */
    atomic_int ready, go, errors, warnings, faults, hidden;
    atomic_int compiles[MACHINES][KEYS];
    struct {
        atomic_uint by; /* a bit a machine */
        _Atomic double first;
    } published[256]; /* by the first two digits of the name */
} *shared;

static bool remote;       /* pretend */
static int machine, turn; /* of this process */

static int digit_pair(const char *name)
{
    char pair[] = {name[0], name[1], 0};

    return (int)strtol(pair, NULL, 16);
}

/* Every third time, so that what is tried twice succeeds. */
static bool stale(void)
{
    if (!remote || ++turn % 3)
        return false;
    shared->faults++;
    errno = ESTALE;
    return true;
}

static bool is_entry(const char *name)
{
    return remote && strstr(name, ".jgc");
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list rest;
    mode_t mode = 0;

    va_start(rest, flags);
    if (flags & O_CREAT)
        mode = va_arg(rest, mode_t);
    va_end(rest);
    if (is_entry(name)) {
        int pair = digit_pair(name);
        unsigned by = shared->published[pair].by;

        if (stale())
            return -1;
        if (by && !(by & 1U << machine) &&
            jg_clock_ms() < shared->published[pair].first + LATE_MS) {
            shared->hidden++;
            errno = ENOENT;
            return -1;
        }
    }
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

int renameat(int from, const char *old, int to, const char *name)
{
    if (is_entry(name)) {
        int pair = digit_pair(name);

        if (stale())
            return -1;
        if (!atomic_fetch_or(&shared->published[pair].by, 1U << machine))
            shared->published[pair].first = jg_clock_ms();
    }
    return (int)syscall(SYS_renameat2, from, old, to, name, 0);
}

int fstatfs(int fd, struct statfs *info)
{
    int result = (int)syscall(SYS_fstatfs, fd, info);

    if (remote)
        info->f_type = 0x6969;
    return result;
}

static void count_line(void *user, int level, const char *line)
{
    (void)user;
    if (level > JITGEMM_LOG_WARNING)
        return;
    fprintf(stderr, "%s\n", line);
    shared->warnings++;
}

static const struct jg_log counting = {count_line, NULL, JITGEMM_LOG_DEBUG};

/* The whole life of one of them. */
static void ask_for_all(int number, const char *cache)
{
    char runtime[20];
    struct jg_registry *registry;
    struct jg_device device;
    struct jg_env env = jg_env_read();
    struct jg_client client = {.log = counting};
    struct jg_spec spec;
    struct jg_request request = {
        .client = &client, .spec = &spec, .problem = "8x8x32"};

    machine = remote ? number % MACHINES : 0;
    snprintf(runtime, sizeof runtime, "machine%d", machine);
    env.xdg_runtime_dir = in_scratch(runtime);
    registry = jg_registry_open(cache, &env, &counting);
    jg_device_of_arch("sm_90a", &device);
    if (!registry || jg_compiler_open(0, &request.nvrtc) != JITGEMM_OK)
        _exit(1);
    jg_gate_open(&client.compiler);
    shared->ready++;
    while (!shared->go)
        sched_yield();
    for (int i = 0; i < KEYS; i++) {
        int id = (i + number) % KEYS;
        struct jg_made made = {.key = ""};

        jg_spec_make(&jg_model_sm90.configs[0], &device, 0, &spec);
        snprintf(spec.text, sizeof spec.text, "constexpr int id = %d;\n", id);
        if (jg_registry_make(registry, &request, &made) != JITGEMM_OK)
            shared->errors++;
        else if (made.source == JITGEMM_SOURCE_COMPILED)
            shared->compiles[machine][id]++;
    }
    jg_registry_close(registry);
    _exit(0);
}

static void run(const char *cache, bool far)
{
    int status, total = 0;

    memset(shared, 0, sizeof *shared);
    remote = far;
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            ask_for_all(i, cache);
    while (shared->ready < PROCESSES && waitpid(-1, &status, WNOHANG) == 0)
        sched_yield();
    shared->go = 1;
    for (int i = 0; i < PROCESSES; i++) {
        CHECK(wait(&status) > 0);
        CHECK_INT(status, 0);
    }
    CHECK_INT(shared->errors, 0);
    CHECK_INT(shared->warnings, 0);
    for (int id = 0; id < KEYS; id++) {
        int all = 0;

        for (int i = 0; i < MACHINES; i++) {
            CHECK(shared->compiles[i][id] <= 1);
            all += shared->compiles[i][id];
        }
        CHECK(all >= 1);
        total += all;
    }
    printf("%s: %d processes, %d keys, %d compiles, %d stale, %d late\n",
           far ? "network" : "local", PROCESSES, KEYS, total, shared->faults,
           shared->hidden);
    CHECK_INT(shared->faults > 0 && shared->hidden > 0, far);
}

static void check_folder(const char *cache, const char *locks)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/v1/e", cache);
    CHECK_INT(count_files(path), KEYS);
    snprintf(path, sizeof path, "%s/v1/t", cache);
    CHECK_INT(count_files(path), 0);
    snprintf(path, sizeof path, "%s/v1/q", cache);
    CHECK(!exists(path));
    snprintf(path, sizeof path, "%s/v1/l", locks);
    CHECK(count_files(path) > 0);
}

int main(void)
{
    char memory[] = "/dev/shm/jitgemm-XXXXXX";
    const char *near;
    struct fakes fakes = fakes_open();

    scratch_begin();
    near = mkdtemp(memory);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    make_folder(in_scratch("machine0"), 0700);
    make_folder(in_scratch("machine1"), 0700);
    if (!near)
        near = in_scratch("near");
    run(near, false);
    check_folder(near, near);
    scratch_clear(near);
    run(in_scratch("far"), true);
    check_folder(in_scratch("far"), in_scratch("machine0/jitgemm"));
    check_folder(in_scratch("far"), in_scratch("machine1/jitgemm"));
    CHECK(!exists(in_scratch("far/v1/l")));
    fakes_close(&fakes);
    scratch_end();
    return test_end();
}
