/* SPDX-License-Identifier: MIT */
/* Preparing in the background: who waits, what is found ready, what fails,
 * and what becomes of it all when the context ends or the process forks. */
#define _POSIX_C_SOURCE 200809L /* setenv, fork */
#include "jitgemm.h"

#include <cuda.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake/fakes.h"
#include "test.h"

enum { THREADS = 8 };

static struct fakes fakes;
static int64_t m[] = {2000, 0}, n[] = {4096, 4096}, k[] = {256, 256};
static int64_t small_m[] = {8, 8};
static jitgemm_problem big = {/* 2 kernels */
                              .size = sizeof big,
                              .groups = 2,
                              .m = m,
                              .n = n,
                              .k = k,
                              .c_type = JITGEMM_F16};
static jitgemm_problem small = {.size = sizeof small,
                                .groups = 2,
                                .m = small_m,
                                .n = n,
                                .k = k,
                                .c_type = JITGEMM_F16};

static jitgemm_context *open_context(const char *dir)
{
    jitgemm_context_options options = {.size = sizeof options,
                                       .cache_dir = dir};
    jitgemm_context *context = NULL;

    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    return context;
}

/* Threads of this process. */
static int count_threads(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    int count = 0;

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Threads: %d", &count) == 1)
            break;
    if (status)
        fclose(status);
    return count;
}

/* One that has been joined may be seen a moment longer. */
static void check_threads(int want)
{
    for (int i = 0; i < 500 && count_threads() != want; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    CHECK_INT(count_threads(), want);
}

static void *nothing(void *data)
{
    return data;
}

static void test_prepare(void)
{
    jitgemm_context *context;
    jitgemm_plan *plan = NULL;
    jitgemm_stats stats = {.size = sizeof stats};
    int before = fakes.nvrtc->begun, threads;
    pthread_t first;

    pthread_create(&first, NULL, nothing, NULL); /* a sanitizer adds one */
    pthread_join(first, NULL);
    threads = count_threads();
    setenv("JITGEMM_JOBS", "4", 1);
    context = open_context(NULL);
    unsetenv("JITGEMM_JOBS");

    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_OK); /* for nothing */
    CHECK_INT(jitgemm_problem_ready(context, &big), JITGEMM_E_NOT_READY);
    check_threads(threads);
    fakes.nvrtc->hold = 1;
    for (int i = 0; i < 50; i++) /* the same, over and over */
        CHECK_INT(jitgemm_prepare_async(context, &big), JITGEMM_OK);
    CHECK_INT(count_threads(), threads + 2); /* two kernels, two jobs */
    CHECK_INT(jitgemm_prepare_wait(context, 0), JITGEMM_E_NOT_READY);
    CHECK_INT(jitgemm_problem_ready(context, &big), JITGEMM_E_NOT_READY);
    CHECK(strstr(jitgemm_last_error()->text, "2000,0x4096x256") != NULL);
    CHECK_INT(jitgemm_prepare_wait(context, 30), JITGEMM_E_NOT_READY);
    *(volatile int *)&fakes.nvrtc->hold = 0;
    CHECK_INT(jitgemm_prepare_wait(context, 30000), JITGEMM_OK);
    CHECK_INT(fakes.nvrtc->begun, before + 2);
    CHECK_INT(jitgemm_problem_ready(context, &big), JITGEMM_OK);
    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_async(context, &big), JITGEMM_OK); /* is ready */
    CHECK_INT(jitgemm_stats_read(context, &stats), JITGEMM_OK);
    CHECK_INT(stats.compiled, 2);
    CHECK_INT(stats.memory_hits, 0);
    CHECK_INT(stats.loads, 2);
    CHECK_INT(jitgemm_plan_create(context, &big, &plan), JITGEMM_OK);
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
    check_threads(threads);
    CHECK_INT(fakes.cuda->loads, 0);
}

/* At most so many at a time. */
static void test_jobs(void)
{
    jitgemm_context *context;
    int threads = count_threads();

    setenv("JITGEMM_JOBS", "1", 1);
    context = open_context("");
    unsetenv("JITGEMM_JOBS");
    CHECK_INT(jitgemm_prepare_async(context, &big), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_async(context, &small), JITGEMM_OK);
    check_threads(threads + 1);
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_OK);
    CHECK_INT(jitgemm_problem_ready(context, &big), JITGEMM_OK);
    CHECK_INT(jitgemm_problem_ready(context, &small), JITGEMM_OK);
    jitgemm_context_destroy(context);
}

/* The error waits for who asks, text and all, once; and stays with the
 * problem until it is tried again. */
static void test_failing(void)
{
    jitgemm_context *context = open_context("");

    fakes.nvrtc->result = NVRTC_ERROR_COMPILATION;
    CHECK_INT(jitgemm_prepare_async(context, &small), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_E_COMPILE);
    CHECK(strstr(jitgemm_last_error()->text, "as told") != NULL);
    CHECK_INT(jitgemm_last_error()->nvrtc, NVRTC_ERROR_COMPILATION);
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_OK);
    CHECK_INT(jitgemm_problem_ready(context, &small), JITGEMM_E_COMPILE);
    CHECK(strstr(jitgemm_last_error()->text, "as told") != NULL);
    fakes.nvrtc->result = NVRTC_SUCCESS;
    CHECK_INT(jitgemm_prepare_async(context, &small), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_OK);
    CHECK_INT(jitgemm_problem_ready(context, &small), JITGEMM_OK);

    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_async(context, &big), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_E_FROZEN);
    CHECK(strstr(jitgemm_last_error()->text, "2000,0x4096x256") != NULL);
    jitgemm_context_destroy(context);
    CHECK_INT(jitgemm_prepare_async(NULL, &big), JITGEMM_E_ARGUMENT);
    CHECK_INT(jitgemm_prepare_wait(NULL, 0), JITGEMM_E_ARGUMENT);
    CHECK_INT(jitgemm_problem_ready(NULL, &big), JITGEMM_E_ARGUMENT);
}

static void *let_go(void *data)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    *(volatile int *)&fakes.nvrtc->hold = 0;
    return data;
}

/* What has begun ends, what has not does not begin. */
static void test_destroy(void)
{
    jitgemm_context *context;
    int before = fakes.nvrtc->begun, begun;
    pthread_t later;

    fakes.nvrtc->hold = 1;
    setenv("JITGEMM_JOBS", "1", 1);
    context = open_context("");
    unsetenv("JITGEMM_JOBS");
    CHECK_INT(jitgemm_prepare_async(context, &big), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_async(context, &small), JITGEMM_OK);
    while (*(volatile int *)&fakes.nvrtc->begun == before)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pthread_create(&later, NULL, let_go, NULL);
    jitgemm_context_destroy(context);
    pthread_join(later, NULL);
    begun = fakes.nvrtc->begun;
    CHECK_INT(begun, before + 1);
    CHECK_INT(fakes.nvrtc->compiles, begun);
    CHECK_INT(fakes.cuda->loads, 0);
}

/* A runtime with many threads, each of which asks and serves. */
static void *serve(void *data)
{
    jitgemm_problem *problems[] = {&big, &small};
    int served = 0;

    for (int i = 0; served < 4; i++) {
        jitgemm_plan *plan = NULL;
        jitgemm_problem *problem = problems[i % 2];

        if (jitgemm_problem_ready(data, problem) != JITGEMM_OK) {
            jitgemm_prepare_async(data, problem);
            jitgemm_prepare_wait(data, 1);
            continue;
        }
        if (jitgemm_plan_create(data, problem, &plan) != JITGEMM_OK)
            return data;
        jitgemm_plan_destroy(plan);
        served++;
    }
    return NULL;
}

static void test_threads(void)
{
    jitgemm_context *context = open_context("");
    pthread_t threads[THREADS];
    int before = fakes.nvrtc->begun;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, serve, context);
    for (int i = 0; i < THREADS; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_OK);
    CHECK_INT(jitgemm_problem_ready(context, &big), JITGEMM_OK);
    CHECK(fakes.nvrtc->begun - before <= 3); /* of three kernels at most */
    jitgemm_context_destroy(context);
}

/* Threads do not survive a fork: a child has its own, and joins none that it
 * has not. */
static inline void test_fork(void)
{
    jitgemm_context_options options = {
        .size = sizeof options, .arch = "sm_90a", .cache_dir = ""};
    jitgemm_context *context = NULL;
    int status = -1;
    pid_t child;

    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_async(context, &small), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_OK);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(60);
        CHECK_INT(jitgemm_prepare_wait(context, 0), JITGEMM_OK);
        CHECK_INT(jitgemm_prepare_async(context, &big), JITGEMM_OK);
        CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_OK);
        CHECK_INT(jitgemm_problem_ready(context, &big), JITGEMM_OK);
        jitgemm_context_destroy(context);
        _exit(test_failures != 0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    jitgemm_context_destroy(context);
}

int main(void)
{
    fakes = fakes_open();
    test_prepare();
    test_jobs();
    test_failing();
    test_destroy();
    test_threads();
#ifdef __SANITIZE_THREAD__ /* which allows no threads after such a fork */
    printf("forking is not tried\n");
#else
    test_fork();
#endif
    fakes_close(&fakes);
    return test_end();
}
