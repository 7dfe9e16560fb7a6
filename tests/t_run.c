/* SPDX-License-Identifier: MIT */
/* A run takes no lock and no memory: the linker sends the library's calls of
 * these functions here (see local.mk). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fake/fakes.h"
#include "jitgemm.h"
#include "test.h"

static atomic_int calls;

#define COUNTED(type, name, parameters, arguments)                            \
    type __real_##name parameters;                                            \
    type __wrap_##name parameters;                                            \
    type __wrap_##name parameters                                             \
    {                                                                         \
        atomic_fetch_add(&calls, 1);                                          \
        return __real_##name arguments;                                       \
    }
COUNTED(void *, malloc, (size_t size), (size))
COUNTED(void *, calloc, (size_t count, size_t size), (count, size))
COUNTED(void *, realloc, (void *memory, size_t size), (memory, size))
COUNTED(int, pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
COUNTED(int, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))

static _Alignas(256) unsigned char memory[256];

/* With the sizes on the device: three kernels. */
static void test_experts(jitgemm_context *context)
{
    int64_t n = 4096, k = 256;
    jitgemm_problem problem = {.size = sizeof problem,
                               .groups = 1,
                               .n = &n,
                               .k = &k,
                               .sizes = JITGEMM_SIZES_DEVICE,
                               .max_rows = 2000};
    jitgemm_expert_arguments arguments = {
        .size = sizeof arguments,
        .a = memory,
        .sfa = memory,
        .b = memory,
        .sfb = memory,
        .c = memory,
        .rows = (const int32_t *)(const void *)memory,
        .workspace = memory};
    jitgemm_plan *plan = NULL;
    int before;

    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_workspace(plan, &arguments.workspace_bytes),
              JITGEMM_OK);
    before = calls;
    for (int i = 0; i < 3; i++)
        CHECK_INT(jitgemm_run_experts(plan, &arguments, NULL), JITGEMM_OK);
    CHECK_INT(calls, before);
    jitgemm_plan_destroy(plan);
}

int main(void)
{
    struct fakes fakes = fakes_open();
    int64_t m = 2000, n = 4096, k = 256; /* takes two kernels */
    const void *in = memory;
    void *out = memory;
    jitgemm_problem problem = {.size = sizeof problem,
                               .groups = 1,
                               .m = &m,
                               .n = &n,
                               .k = &k,
                               .c_type = JITGEMM_F16};
    jitgemm_operands operands = {.size = sizeof operands,
                                 .a = &in,
                                 .sfa = &in,
                                 .b = &in,
                                 .sfb = &in,
                                 .c = &out};
    jitgemm_context *context = NULL;
    jitgemm_plan *plan = NULL;
    int before;

    CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK(calls > 0); /* they do come here */
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    before = calls;
    for (int i = 0; i < 3; i++)
        CHECK_INT(jitgemm_run(plan, NULL), JITGEMM_OK);
    CHECK_INT(calls, before);
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    CHECK_INT(calls, before); /* as they were: only compares */
    jitgemm_plan_destroy(plan);
    test_experts(context);
    jitgemm_context_destroy(context);
    fakes_close(&fakes);
    return test_end();
}
