/* SPDX-License-Identifier: MIT */
/* Forked children: one forked while another thread compiles gets an error at
 * once, one forked while none does may compile, and none may use the driver
 * that its parent opened. */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "fake/fakes.h"
#include "jitgemm.h"
#include "test.h"

enum { TRIALS = 25 };

static struct fakes fakes;
static const jitgemm_context_options for_arch = {.size = sizeof for_arch,
                                                 .arch = "sm_90a"};

/* The index-th kernel of one group of m tokens. */
static jitgemm_status prepare(jitgemm_context *context, int64_t m,
                              int32_t index)
{
    int64_t n = 4096, k = 4096;
    jitgemm_problem problem = {
        .size = sizeof problem, .groups = 1, .m = &m, .n = &n, .k = &k};
    jitgemm_kernel kernel = {.size = sizeof kernel};

    return jitgemm_prepare(context, &problem, index, &kernel);
}

static jitgemm_status create(const jitgemm_context_options *options)
{
    jitgemm_context *context;
    jitgemm_status status = jitgemm_context_create(options, &context);

    if (status == JITGEMM_OK)
        jitgemm_context_destroy(context);
    return status;
}

/* Ends what hangs: 3 s are long for what takes no time. */
static void expect_child(pid_t child)
{
    int status = -1;
    double start = jg_clock_ms();

    while (waitpid(child, &status, WNOHANG) == 0 &&
           jg_clock_ms() - start < 3000)
        poll(NULL, 0, 1);
    if (status == -1) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        fprintf(stderr, "a child hung\n");
    }
    CHECK_INT(status, 0);
    CHECK(jg_clock_ms() - start < 1000);
}

/* NULL: compiled. */
static void *compile(void *context)
{
    return prepare(context, 64, 0) == JITGEMM_OK ? NULL : context;
}

static void compiling_child(jitgemm_context *context)
{
    test_failures = 0;
    CHECK_INT(prepare(context, 64, 0), JITGEMM_E_FORKED); /* in flight */
    CHECK(strstr(jitgemm_last_error()->text, "another thread") != NULL);
    CHECK_INT(prepare(context, 9999, 1), JITGEMM_E_FORKED); /* another */
    CHECK_INT(create(&for_arch), JITGEMM_E_FORKED);
    jitgemm_context_destroy(context); /* leaves it alone */
    _exit(test_failures);
}

/* At TRIALS moments of one compile. */
static void test_compiling(void)
{
    jitgemm_context *context;
    pthread_t thread;
    void *failed;

    fakes.nvrtc->ms = 1000;
    CHECK_INT(jitgemm_context_create(&for_arch, &context), JITGEMM_OK);
    CHECK_INT(pthread_create(&thread, NULL, compile, context), 0);
    poll(NULL, 0, 100);
    for (int i = 0; i < TRIALS; i++) {
        pid_t child = fork();

        if (child == 0)
            compiling_child(context);
        expect_child(child);
    }
    CHECK_INT(fakes.nvrtc->compiles, 0); /* still at it */
    pthread_join(thread, &failed);
    CHECK(!failed);
    CHECK_INT(fakes.nvrtc->compiles, 1);
    fakes.nvrtc->ms = 20;
    jitgemm_context_destroy(context);
}

/* A child, and its child. */
static void test_idle(void)
{
    jitgemm_context *context;
    pid_t child;

    CHECK_INT(jitgemm_context_create(&for_arch, &context), JITGEMM_OK);
    child = fork();
    if (child == 0) {
        test_failures = 0;
        CHECK_INT(prepare(context, 9999, 1), JITGEMM_OK);
        CHECK_INT(create(&for_arch), JITGEMM_OK);
        child = fork();
        if (child == 0) {
            CHECK_INT(prepare(context, 20, 0), JITGEMM_OK);
            jitgemm_context_destroy(context);
            _exit(test_failures);
        }
        expect_child(child);
        _exit(test_failures);
    }
    expect_child(child);
    jitgemm_context_destroy(context);
}

static void driver_child(jitgemm_context *context, jitgemm_plan *plan,
                         const jitgemm_problem *problem)
{
    int loads = fakes.cuda->loads;
    jitgemm_plan *other;

    test_failures = 0;
    CHECK_INT(create(NULL), JITGEMM_E_FORKED);
    CHECK(strstr(jitgemm_last_error()->text, "driver") != NULL);
    CHECK_INT(jitgemm_plan_create(context, problem, &other), JITGEMM_E_FORKED);
    CHECK_INT(create(&for_arch), JITGEMM_OK);
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
    CHECK_INT(fakes.cuda->loads, loads); /* unloads nothing */
    _exit(test_failures);
}

static void test_driver(void)
{
    int64_t m = 64, n = 4096, k = 4096;
    jitgemm_problem problem = {
        .size = sizeof problem, .groups = 1, .m = &m, .n = &n, .k = &k};
    jitgemm_context *context;
    jitgemm_plan *plan;
    pid_t child = fork();

    if (child == 0) { /* before: it may open the driver itself */
        test_failures = 0;
        CHECK_INT(create(NULL), JITGEMM_OK);
        _exit(test_failures);
    }
    expect_child(child);
    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    child = fork();
    if (child == 0)
        driver_child(context, plan, &problem);
    expect_child(child);
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
}

int main(void)
{
    fakes = fakes_open();
    test_compiling();
    test_idle();
    test_driver();
    fakes_close(&fakes);
    return test_end();
}
