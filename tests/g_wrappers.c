/* SPDX-License-Identifier: MIT */
/* Every function of kernel_src/ptx on a GPU, against the emulator's of the
 * same name: the kernels of tests/wrappers run on both sides on the same
 * inputs, and their outputs must be the same, bit for bit but for sums that
 * wgmma rounds. tests/t_wrapper_names.sh sees that none is left out.
 *
 * Usage: g_wrappers [small] [GROUP]. Groups run at the same time, each in a
 * process of its own: what hangs or faults does not keep the others from being
 * seen.
 * "small" is for the emulated device; E_SEEDS=20 tries more schedules of the
 * emulator's side. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, strsignal */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "wrappers/both.h"
#include "wrappers/cases.h"
#include "wrappers/compiled.h"

enum { SECONDS = 200 }; /* a group */

static const struct group {
    const char *name;
    void (*run)(bool small);
} groups[] = {
    {"half", cases_half},           {"memory", cases_memory},
    {"barrier", cases_barrier},     {"copies", cases_copies},
    {"sync", cases_sync},           {"registers", cases_registers},
    {"dependent", cases_dependent}, {"wgmma", cases_wgmma},
    {"cluster", cases_cluster},     {"wgmma_bf16", cases_wgmma_bf16},
    {"float", cases_float},
};

static int run(const struct group *group, bool small)
{
    alarm(small ? 10 * SECONDS : SECONDS); /* emulated, also by sanitizers */
    if (!compiled_open())
        return TEST_SKIP;
    group->run(small);
    return 0;
}

static pid_t start(const struct group *group, bool small)
{
    pid_t process = fork();

    if (process < 0)
        exit(99);
    if (process == 0) {
        int status = run(group, small);

        fflush(stdout);
        _exit(status);
    }
    return process;
}

/* 0 or TEST_SKIP; counts a failure if the group did not come to its end. */
static int finish(const struct group *group, pid_t process)
{
    int status = 0;

    waitpid(process, &status, 0);
    if (WIFEXITED(status) &&
        (!WEXITSTATUS(status) || WEXITSTATUS(status) == TEST_SKIP))
        return WEXITSTATUS(status);
    both_tally->failures++;
    if (WIFSIGNALED(status))
        printf("%s: %s\n", group->name,
               WTERMSIG(status) == SIGALRM ? "did not end in time"
                                           : strsignal(WTERMSIG(status)));
    else
        printf("%s: ended with %d\n", group->name, WEXITSTATUS(status));
    fflush(stdout);
    return 0;
}

int main(int count, char **arguments)
{
    enum { GROUPS = sizeof groups / sizeof *groups };
    pid_t processes[GROUPS];
    bool skipped = false;
    bool small = count > 1 && strcmp(arguments[1], "small") == 0;
    const char *only = count > 1 + small ? arguments[1 + small] : NULL;

    if (getenv("E_SEEDS"))
        both_seeds = atoi(getenv("E_SEEDS"));
    both_tally = mmap(NULL, sizeof *both_tally, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (both_tally == MAP_FAILED)
        return 99;
    for (int i = 0; i < GROUPS; i++)
        processes[i] = only && strcmp(only, groups[i].name) != 0
                           ? 0
                           : start(&groups[i], small);
    for (int i = 0; i < GROUPS; i++)
        skipped |= processes[i] &&
                   finish(&groups[i], processes[i]) == TEST_SKIP;
    if (skipped)
        return TEST_SKIP;
    printf("g_wrappers %lld checks, %lld failed\n", both_tally->checks,
           both_tally->failures);
    return both_tally->failures || !both_tally->checks ? 1 : 0;
}
