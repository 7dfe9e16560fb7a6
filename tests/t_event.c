/* SPDX-License-Identifier: MIT */
/* Events: one a kernel that was asked for, with what came of it, told while
 * no lock is held. */
#include "jitgemm.h"

#include <cuda.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "fake/fakes.h"
#include "test.h"

enum { THREADS = 8, MOST = 64 };

static struct fakes fakes;
static int64_t m[] = {2000, 0}, n[] = {4096, 4096}, k[] = {256, 256};
static jitgemm_problem problem = {.size = sizeof problem,
                                  .groups = 2,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .c_type = JITGEMM_F16};

static struct told {
    jitgemm_status status;
    jitgemm_kernel kernel;
    bool late, good;
    char problem[64], text[256];
} told[MOST];
static int count;
static bool calls_back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Asks for what it is told of, which would hang if a lock were held, and
 * fails, which must not hide the caller's error. */
static void call_back(jitgemm_context *context)
{
    static _Thread_local bool inside;
    jitgemm_kernel kernel = {.size = sizeof kernel};

    if (inside)
        return;
    inside = true;
    for (int i = 0; i < 2; i++)
        jitgemm_prepare(context, &problem, i, &kernel);
    jitgemm_prepare(NULL, &problem, 0, &kernel);
    inside = false;
}

static void listen_in(void *user, const jitgemm_event *event)
{
    struct told *next;

    pthread_mutex_lock(&lock);
    next = &told[count < MOST ? count++ : 0];
    next->status = event->status;
    next->kernel = *event->kernel;
    next->late = event->late;
    next->good = event->size == sizeof *event && !event->reserved;
    snprintf(next->problem, sizeof next->problem, "%s", event->problem);
    snprintf(next->text, sizeof next->text, "%s", event->text);
    pthread_mutex_unlock(&lock);
    if (calls_back)
        call_back(*(jitgemm_context **)user);
}

static void check(int index, jitgemm_status status, jitgemm_source source,
                  bool late, const char *text)
{
    const struct told *one = &told[index];

    CHECK(index < count);
    CHECK(one->good);
    CHECK_INT(one->status, status);
    CHECK_INT(one->kernel.source, source);
    CHECK_INT(one->late, late);
    CHECK_INT(strlen(one->kernel.key), 32);
    CHECK_STR(one->kernel.arch, "sm_90a");
    CHECK(one->kernel.name[0] != 0 && one->kernel.ms >= 0);
    CHECK_STR(one->problem, "2000,0x4096x256");
    CHECK(strstr(one->text, text) != NULL);
}

static jitgemm_status make_plan(jitgemm_context *context)
{
    jitgemm_plan *plan = NULL;
    jitgemm_status status = jitgemm_plan_create(context, &problem, &plan);

    jitgemm_plan_destroy(plan);
    return status;
}

static jitgemm_context *open_context(const char *dir)
{
    static jitgemm_context *context;
    jitgemm_context_options options = {.size = sizeof options,
                                       .cache_dir = dir,
                                       .event = listen_in,
                                       .event_user = &context};

    count = 0;
    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    return context;
}

static void test_sources(void)
{
    jitgemm_kernel kernel = {.size = sizeof kernel};
    jitgemm_context *context = open_context(NULL);

    CHECK_INT(make_plan(context), JITGEMM_OK);
    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    CHECK_INT(make_plan(context), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare(context, &problem, 1, &kernel), JITGEMM_OK);
    CHECK_INT(count, 5);
    for (int i = 0; i < 2; i++) {
        check(i, JITGEMM_OK, JITGEMM_SOURCE_COMPILED, false, "");
        CHECK(told[i].kernel.ms >= 20); /* that the fake takes */
        CHECK_INT(told[i].kernel.registers, 40);
        check(2 + i, JITGEMM_OK, JITGEMM_SOURCE_MEMORY, true, "");
    }
    check(4, JITGEMM_OK, JITGEMM_SOURCE_MEMORY, true, "");
    CHECK_STR(told[4].kernel.key, kernel.key);
    jitgemm_context_destroy(context);

    context = open_context(NULL);
    CHECK_INT(make_plan(context), JITGEMM_OK);
    CHECK_INT(count, 2);
    check(0, JITGEMM_OK, JITGEMM_SOURCE_DISK, false, "");
    jitgemm_context_destroy(context);
}

static void test_failing(void)
{
    jitgemm_context *context = open_context("");

    calls_back = true;
    fakes.nvrtc->result = NVRTC_ERROR_COMPILATION;
    CHECK_INT(make_plan(context), JITGEMM_E_COMPILE);
    CHECK_INT(jitgemm_last_error()->status, JITGEMM_E_COMPILE);
    check(0, JITGEMM_E_COMPILE, JITGEMM_SOURCE_NONE, false, "NVRTC_ERROR");
    CHECK_INT(count, 3); /* two by the listener */
    fakes.nvrtc->result = NVRTC_SUCCESS;
    calls_back = false;
    jitgemm_context_destroy(context);

    context = open_context("");
    CHECK_INT(jitgemm_freeze(context), JITGEMM_OK);
    CHECK_INT(make_plan(context), JITGEMM_E_FROZEN);
    CHECK_INT(count, 1);
    check(0, JITGEMM_E_FROZEN, JITGEMM_SOURCE_NONE, true, "be compiled");
    jitgemm_context_destroy(context);

    /* Loading fails, which is not the compiler's fault. */
    context = open_context("");
    fakes.cuda->fail = "cuLibraryLoadData";
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_OUT_OF_MEMORY;
    CHECK_INT(make_plan(context), JITGEMM_E_MEMORY);
    fakes.cuda->fail = NULL;
    check(0, JITGEMM_E_MEMORY, JITGEMM_SOURCE_NONE, false, "cuLibrary");
    jitgemm_context_destroy(context);
}

static void *ask(void *data)
{
    make_plan(data);
    return NULL;
}

/* Threads that share a compile are told one by one. */
static void test_threads(void)
{
    jitgemm_context *context = open_context("");
    pthread_t threads[THREADS];
    int compiled = 0;

    calls_back = true;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask, context);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    calls_back = false;
    CHECK_INT(count, THREADS * 2 * 3);
    for (int i = 0; i < count; i++) {
        CHECK_INT(told[i].status, JITGEMM_OK);
        compiled += told[i].kernel.source == JITGEMM_SOURCE_COMPILED;
    }
    CHECK_INT(compiled, 2);
    jitgemm_context_destroy(context);
}

/* Callers that were built before there were events. */
static void test_old_options(void)
{
    jitgemm_context_options options = {
        .size = offsetof(jitgemm_context_options, event),
        .event = listen_in}; /* what lies behind */
    jitgemm_context *context = NULL;

    count = 0;
    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    CHECK_INT(make_plan(context), JITGEMM_OK);
    CHECK_INT(count, 0);
    jitgemm_context_destroy(context);
    options.size--;
    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_E_VERSION);
}

int main(void)
{
    fakes = fakes_open();
    test_sources();
    test_failing();
    test_threads();
    test_old_options();
    fakes_close(&fakes);
    return test_end();
}
