/* SPDX-License-Identifier: MIT */
/* What the library takes for granted of a driver, as tables to read and as
 * checks. "g_driver PART" runs one part. Every part is a process of its own,
 * so that one that dies hides nothing; CUDA is opened in none that forks. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/parts.h"
#include "emu_calls.h"
#include "test.h"

static struct facts *facts; /* shared with children */

static int look(const struct facts *unused)
{
    (void)unused;
    if (!emu_open())
        return TEST_SKIP;
    EMU(cuDeviceGetAttribute(&facts->major,
                             CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    EMU(cuDeviceGetAttribute(&facts->minor,
                             CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    GPU(cuDriverGetVersion(&facts->driver));
    facts->emulated = knobs != NULL;
    memcpy(facts->name, gpu.name, sizeof facts->name);
    return 0;
}

static const struct part {
    const char *name;
    int (*run)(const struct facts *);
    unsigned seconds; /* at most */
} probe = {"look", look, 60},
  parts[] = {{"capture", part_capture, 60},
             {"images", part_images, 90},
             {"times", part_times, 60},
             {"overlap", part_overlap, 60}};

/* The exit status, or -1 after saying how else it ended. */
static int run(const struct part *part)
{
    pid_t child;
    int status = 0;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(part->seconds);
        setenv("CUDA_MODULE_LOADING", facts->loading, 1);
        exit(part->run(facts));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    printf("%s: ended by signal %d\n", part->name, WTERMSIG(status));
    return -1;
}

int main(int count, char **arguments)
{
    static const char *const loadings[] = {"LAZY", "EAGER"};
    const struct rlimit no_core = {0, 0};
    int status;

    setrlimit(RLIMIT_CORE, &no_core);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    facts = mmap(NULL, sizeof *facts, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (facts == MAP_FAILED)
        return 99;
    facts->loading = loadings[0];
    status = run(&probe);
    if (status != 0)
        return status == TEST_SKIP ? TEST_SKIP : 1;
    printf("%s, compute capability %d.%d, driver of CUDA %d.%d\n", facts->name,
           facts->major, facts->minor, facts->driver / 1000,
           facts->driver % 1000 / 10);
    for (size_t i = 0; i < 2 * sizeof parts / sizeof *parts; i++) {
        const struct part *part = &parts[i / 2];

        if (count > 1 && strcmp(arguments[1], part->name) != 0)
            continue;
        facts->loading = loadings[i % 2];
        printf("\n%s, ", part->name);
        status = run(part);
        if (status != TEST_SKIP)
            CHECK_INT(status, 0);
    }
    return test_checks ? test_end() : TEST_SKIP;
}
