/* SPDX-License-Identifier: MIT */
/* Ends of a process that cleans nothing up, or too late: each in a child that
 * must exit as if nothing were. */
#define _POSIX_C_SOURCE 200809L /* setenv, fork, alarm */
#include "jitgemm.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake/fakes.h"
#include "test.h"

/* The leak sanitizer asks this: what threads have in hand at exit is not freed
 * on purpose. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

static struct fakes fakes;
static int64_t m[] = {2000}, n[] = {4096}, k[] = {256};
static jitgemm_problem problem = {.size = sizeof problem,
                                  .groups = 1,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .c_type = JITGEMM_F16};
static jitgemm_context *context; /* reachable to the end */
static jitgemm_plan *plan;

static void make_all(void)
{
    jitgemm_context_options options = {.size = sizeof options,
                                       .cache_dir = ""};

    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    CHECK_INT(jitgemm_prepare_async(context, &problem), JITGEMM_OK);
}

static void live_handles(void)
{
    make_all();
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
}

static void while_compiling(void)
{
    fakes.nvrtc->hold = 1;
    make_all();
    while (!*(volatile int *)&fakes.nvrtc->begun)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* From a handler of atexit(), when the driver has shut down already. */
static void driver_gone(void)
{
    live_handles();
    CHECK_INT(jitgemm_prepare_wait(context, -1), JITGEMM_OK);
    fakes.cuda->fail = ""; /* every function */
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_DEINITIALIZED;
    jitgemm_plan_destroy(plan);
    jitgemm_context_destroy(context);
    context = NULL;
    plan = NULL;
}

/* The library's thread is at work when the program lets go of the library. */
static void unloaded(void)
{
    const char *build = getenv("JG_BUILDDIR");
    __typeof__(jitgemm_context_create) *create;
    __typeof__(jitgemm_prepare_async) *prepare;
    char path[1024];
    void *library, *address;

    snprintf(path, sizeof path, "%s/.libs/libjitgemm.so", build ? build : ".");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("unloading is not tried: %s\n", dlerror());
        return;
    }
    address = dlsym(library, "jitgemm_context_create");
    memcpy(&create, &address, sizeof create);
    address = dlsym(library, "jitgemm_prepare_async");
    memcpy(&prepare, &address, sizeof prepare);
    CHECK_INT(create(NULL, &context), JITGEMM_OK);
    CHECK_INT(prepare(context, &problem), JITGEMM_OK);
    CHECK_INT(dlclose(library), 0);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    CHECK(fakes.nvrtc->compiles > 0); /* it went on */
}

static void forked(void)
{
    int status = -1;
    pid_t child;

    live_handles();
    child = fork();
    if (child == 0)
        exit(test_failures != 0); /* with all of the parent's handles */
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

int main(void)
{
    static void (*const ends[])(void) = {live_handles, while_compiling,
                                         driver_gone, unloaded, forked};
    fakes = fakes_open();
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int status = -1;
        pid_t child;

        fflush(NULL);
        child = fork();
        if (child == 0) {
            alarm(30);
            ends[i]();
            exit(test_failures != 0);
        }
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK_INT(status, 0);
    }
    fakes_close(&fakes);
    return test_end();
}
