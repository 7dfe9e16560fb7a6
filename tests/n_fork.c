/* SPDX-License-Identifier: MIT */
/* Children forked while another thread is in NVRTC: each gets an error at
 * once, or compiles if the thread was between two compiles. None waits for a
 * lock that NVRTC had when it was copied. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "jitgemm.h"
#include "test.h"

enum {
    TRIALS = 50,
    AT_ONCE_MS = 1000,
    COMPILE_MS = 30000, /* far more than a compile takes */
    COMPILED = 3,       /* how a child ends */
    REFUSED = 4
};

static atomic_bool ending;
static atomic_int compiles, failures;

/* Compiles the smallest kernel, which no cache has. */
static jitgemm_status compile(void)
{
    const jitgemm_context_options options = {
        .size = sizeof options, .arch = "sm_90a", .cache_dir = ""};
    int64_t m = 9999, n = 4096, k = 4096;
    jitgemm_problem problem = {
        .size = sizeof problem, .groups = 1, .m = &m, .n = &n, .k = &k};
    jitgemm_kernel kernel = {.size = sizeof kernel};
    jitgemm_context *context;
    jitgemm_status status = jitgemm_context_create(&options, &context);

    if (status != JITGEMM_OK)
        return status;
    status = jitgemm_prepare(context, &problem, 0, &kernel);
    jitgemm_context_destroy(context);
    return status;
}

static pid_t start_child(void)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    switch (compile()) {
    case JITGEMM_OK:
        _exit(COMPILED);
    case JITGEMM_E_FORKED:
        _exit(REFUSED);
    default:
        _exit(1);
    }
}

static void *compile_on(void *unused)
{
    while (!ending) {
        failures += compile() != JITGEMM_OK;
        compiles++;
    }
    return unused;
}

/* How the child ended; it is killed if it takes too long. */
static int wait_for(pid_t child)
{
    double start = jg_clock_ms();
    int status;

    while (waitpid(child, &status, WNOHANG) == 0) {
        if (jg_clock_ms() - start > COMPILE_MS)
            kill(child, SIGKILL);
        poll(NULL, 0, 1);
    }
    if (!WIFEXITED(status) ||
        (WEXITSTATUS(status) != COMPILED && WEXITSTATUS(status) != REFUSED)) {
        fprintf(stderr, "a child ended with %#x\n", (unsigned)status);
        return 0;
    }
    if (WEXITSTATUS(status) == REFUSED)
        CHECK(jg_clock_ms() - start < AT_ONCE_MS);
    return WEXITSTATUS(status);
}

int main(void)
{
    int count[REFUSED + 1] = {0};
    pthread_t thread;

    if (compile() == JITGEMM_E_NO_NVRTC) {
        printf("skipped: %s\n", jitgemm_last_error()->text);
        return TEST_SKIP;
    }
    CHECK_INT(pthread_create(&thread, NULL, compile_on, NULL), 0);
    for (int i = 0; i < TRIALS; i++) {
        poll(NULL, 0, 7 + i % 5); /* all phases of a compile in turn */
        count[wait_for(start_child())]++;
    }
    ending = true;
    pthread_join(thread, NULL);
    CHECK_INT(count[COMPILED] + count[REFUSED], TRIALS);
    CHECK(count[REFUSED] > TRIALS / 2);
    CHECK(compiles > 0);
    CHECK_INT(failures, 0);
    CHECK_INT(wait_for(start_child()), COMPILED); /* nobody is in NVRTC */
    printf("%d children: %d refused, %d compiled\n", TRIALS, count[REFUSED],
           count[COMPILED]);
    return test_end();
}
