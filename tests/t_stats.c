/* SPDX-License-Identifier: MIT */
/* Statistics: exact once all is quiet, of one context and of what contexts
 * share; and as JSON. */
#include "jitgemm.h"

#include <cuda.h>
#include <nvrtc.h>
#include <pthread.h>

#include "fake/fakes.h"
#include "test.h"

enum { THREADS = 16, PLANS = 25 };

static struct fakes fakes;
static int64_t m[] = {2000, 0}, n[] = {4096, 4096}, k[] = {256, 256};
static jitgemm_problem problem = {.size = sizeof problem,
                                  .groups = 2,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .c_type = JITGEMM_F16};

static jitgemm_status make_plan(jitgemm_context *context)
{
    jitgemm_plan *plan = NULL;
    jitgemm_status status = jitgemm_plan_create(context, &problem, &plan);

    jitgemm_plan_destroy(plan);
    return status;
}

static jitgemm_context *open_context(const char *dir)
{
    jitgemm_context_options options = {.size = sizeof options,
                                       .cache_dir = dir};
    jitgemm_context *context = NULL;

    CHECK_INT(jitgemm_context_create(&options, &context), JITGEMM_OK);
    return context;
}

static jitgemm_stats read_stats(jitgemm_context *context)
{
    jitgemm_stats stats = {.size = sizeof stats};

    CHECK_INT(jitgemm_stats_read(context, &stats), JITGEMM_OK);
    CHECK_INT(stats.size, sizeof stats);
    return stats;
}

/* Everything but times and bytes, in the order of the struct. */
static void check_stats(jitgemm_context *context, const jitgemm_stats *want)
{
    jitgemm_stats got = read_stats(context);

    CHECK_INT(got.frozen, want->frozen);
    CHECK_INT(got.memory_hits, want->memory_hits);
    CHECK_INT(got.pack_hits, want->pack_hits);
    CHECK_INT(got.disk_hits, want->disk_hits);
    CHECK_INT(got.compiled, want->compiled);
    CHECK_INT(got.failed, want->failed);
    CHECK_INT(got.misses, want->misses);
    CHECK_INT(got.refused, want->refused);
    CHECK_INT(got.compiles, want->compiles);
    CHECK_INT(got.failed_compiles, want->failed_compiles);
    CHECK_INT(got.loads, want->loads);
    CHECK_INT(got.failed_loads, want->failed_loads);
    CHECK_INT(got.kernels, want->kernels);
    CHECK_INT(got.corrupt, want->corrupt);
}

static void *make_plans(void *data)
{
    for (int i = 0; i < PLANS; i++)
        if (make_plan(data) != JITGEMM_OK)
            return data;
    return NULL;
}

static void test_threads(void)
{
    jitgemm_context *context = open_context(NULL), *other;
    pthread_t threads[THREADS];
    jitgemm_stats stats;

    check_stats(context, &(jitgemm_stats){0});
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, make_plans, context);
    read_stats(context); /* while they work */
    for (int i = 0; i < THREADS; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    check_stats(context, &(jitgemm_stats){
                             .memory_hits = 2 * THREADS * PLANS - 2,
                             .compiled = 2,
                             .misses = 2,
                             .compiles = 2,
                             .loads = 2,
                             .kernels = 2,
                         });
    stats = read_stats(context);
    CHECK(stats.compile_us >= 40 * 1000); /* the fake takes 20 ms each */
    CHECK(stats.compile_us < 60 * 1000 * 1000);
    CHECK_INT(stats.kernel_bytes, 2 * 64);

    /* Another context has counts of its own, and the same kernels. */
    other = open_context(NULL);
    check_stats(other, &(jitgemm_stats){.kernels = 2});
    CHECK_INT(make_plan(other), JITGEMM_OK);
    check_stats(other, &(jitgemm_stats){.memory_hits = 2, .kernels = 2});
    jitgemm_context_destroy(other);
    jitgemm_context_destroy(context);

    context = open_context(NULL);
    CHECK_INT(make_plan(context), JITGEMM_OK);
    check_stats(context,
                &(jitgemm_stats){.disk_hits = 2, .loads = 2, .kernels = 2});
    CHECK_INT(read_stats(context).compile_us, 0);
    jitgemm_context_destroy(context);
}

static void test_failing(void)
{
    jitgemm_context *context = open_context("");

    fakes.nvrtc->result = NVRTC_ERROR_COMPILATION;
    for (int i = 0; i < 3; i++) /* the last two are remembered */
        CHECK_INT(make_plan(context), JITGEMM_E_COMPILE);
    fakes.nvrtc->result = NVRTC_SUCCESS;
    check_stats(context, &(jitgemm_stats){.failed = 3,
                                          .misses = 1,
                                          .compiles = 1,
                                          .failed_compiles = 1});
    jitgemm_freeze(context);
    jitgemm_context_destroy(context);

    context = open_context("");
    jitgemm_freeze(context);
    CHECK_INT(make_plan(context), JITGEMM_E_FROZEN);
    check_stats(
        context,
        &(jitgemm_stats){.frozen = 1, .failed = 1, .misses = 1, .refused = 1});
    jitgemm_context_destroy(context);

    /* An entry that the driver refuses: set aside and compiled. */
    context = open_context(NULL);
    fakes.cuda->fail = "cuLibraryLoadData";
    fakes.cuda->fail_after = 0;
    fakes.cuda->fail_result = CUDA_ERROR_INVALID_IMAGE;
    CHECK_INT(make_plan(context), JITGEMM_E_DRIVER);
    fakes.cuda->fail = NULL;
    check_stats(context, &(jitgemm_stats){.failed = 1,
                                          .compiles = 1,
                                          .loads = 2,
                                          .failed_loads = 2,
                                          .kernels = 1,
                                          .corrupt = 1});
    jitgemm_context_destroy(context);
}

/* Every length of the buffer, and numbers at both ends. */
static void test_json(void)
{
    jitgemm_stats stats = {.size = sizeof stats,
                           .frozen = 1,
                           .memory_hits = UINT64_MAX,
                           .lock_waits = 7};
    static const char head[] = "{\"frozen\":true,\"memory_hits\":"
                               "18446744073709551615,\"pack_hits\":0,";
    char whole[1024], part[1024];
    size_t length = jitgemm_stats_json(&stats, whole, sizeof whole);
    uint64_t *last = &stats.lock_waits;

    CHECK_INT(length, strlen(whole));
    CHECK_INT(jitgemm_stats_json(&stats, NULL, 0), length);
    CHECK(strncmp(whole, head, strlen(head)) == 0);
    CHECK(strstr(whole, ",\"lock_waits\":7}") == whole + length - 16);
    for (size_t size = 1; size <= length + 1; size++) {
        memset(part, '#', sizeof part);
        CHECK_INT(jitgemm_stats_json(&stats, part, size), length);
        CHECK(strncmp(part, whole, size - 1) == 0 && !part[size - 1]);
        CHECK(part[size] == '#');
    }
    /* A name a field, and each field its own value. */
    for (uint64_t *field = &stats.memory_hits; field <= last; field++)
        *field = (uint64_t)(field - &stats.memory_hits) + 100;
    jitgemm_stats_json(&stats, whole, sizeof whole);
    for (uint64_t *field = &stats.memory_hits; field <= last; field++) {
        snprintf(part, sizeof part, "\":%d%c", (int)*field,
                 field == last ? '}' : ',');
        CHECK(strstr(whole, part) != NULL);
    }
    CHECK_INT(last - &stats.memory_hits, 17);

    stats.size = 4;
    CHECK_INT(jitgemm_stats_json(&stats, whole, sizeof whole), 0);
    CHECK_INT(jitgemm_last_error()->status, JITGEMM_E_VERSION);
    CHECK_INT(jitgemm_stats_json(NULL, whole, sizeof whole), 0);
    CHECK_INT(jitgemm_stats_read(NULL, &stats), JITGEMM_E_ARGUMENT);
}

int main(void)
{
    fakes = fakes_open();
    test_threads();
    test_failing();
    test_json();
    fakes_close(&fakes);
    return test_end();
}
