/* SPDX-License-Identifier: MIT */
/* Measuring configurations. The public function. */
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "choice.h"
#include "dummy.h"

/* Runs of a configuration: some to load and to wake up, then as many as give a
 * steady median, or fewer if they take long. */
enum { WARM_UP = 2, LEAST = 3, MOST = 31 };
#define ENOUGH_NS 200000000 /* of measured time */
#define NOISE_PERCENT 2     /* less is no reason to leave the model's choice */

/* Before each run something else is written to all of the L2, since operands
 * come from memory in a model of many layers, too; meanwhile the host launches
 * the run, so that it is no wait for the host that is measured. */
struct watch {
    const struct jg_cuda *cuda;
    CUstream stream;
    CUevent begin, end;
    CUdeviceptr other;
    size_t bytes;
};

static jitgemm_status watch_open(const jitgemm_context *context,
                                 CUstream stream, struct watch *watch)
{
    const struct jg_cuda *cuda = context->cuda;
    const char *call = "cuDeviceGetAttribute";
    int l2 = 0;
    CUresult result;

    *watch = (struct watch){.cuda = cuda, .stream = stream};
    result = cuda->cuDeviceGetAttribute(
        &l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, context->handle);
    watch->bytes = 2 * (size_t)l2;
    if (result == CUDA_SUCCESS) {
        call = "cuEventCreate";
        result = cuda->cuEventCreate(&watch->begin, CU_EVENT_DEFAULT);
    }
    if (result == CUDA_SUCCESS)
        result = cuda->cuEventCreate(&watch->end, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS) {
        call = "cuMemAlloc";
        result = cuda->cuMemAlloc(&watch->other, watch->bytes);
    }
    return result == CUDA_SUCCESS ? JITGEMM_OK
                                  : jg_driver_fail(cuda, result, call);
}

static void watch_close(struct watch *watch)
{
    if (watch->other)
        watch->cuda->cuMemFree(watch->other);
    if (watch->end)
        watch->cuda->cuEventDestroy(watch->end);
    if (watch->begin)
        watch->cuda->cuEventDestroy(watch->begin);
}

static jitgemm_status watch_start(const struct watch *watch)
{
    const char *call = "cuMemsetD8Async";
    CUresult result = watch->cuda->cuMemsetD8Async(
        watch->other, 0, watch->bytes, watch->stream);

    if (result == CUDA_SUCCESS) {
        call = "cuEventRecord";
        result = watch->cuda->cuEventRecord(watch->begin, watch->stream);
    }
    return result == CUDA_SUCCESS ? JITGEMM_OK
                                  : jg_driver_fail(watch->cuda, result, call);
}

/* Waits, and gives the time since the start. */
static jitgemm_status watch_stop(const struct watch *watch, int64_t *ns)
{
    const char *call = "cuEventRecord";
    float ms = 0;
    CUresult result = watch->cuda->cuEventRecord(watch->end, watch->stream);

    if (result == CUDA_SUCCESS) {
        call = "cuEventSynchronize";
        result = watch->cuda->cuEventSynchronize(watch->end);
    }
    if (result == CUDA_SUCCESS) {
        call = "cuEventElapsedTime";
        result = watch->cuda->cuEventElapsedTime(&ms, watch->begin,
                                                 watch->end);
    }
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(watch->cuda, result, call);
    *ns = (int64_t)((double)ms * 1e6);
    *ns = *ns < 1 ? 1 : *ns > JG_TUNING_NS ? JG_TUNING_NS : *ns;
    return JITGEMM_OK;
}

/* ---- A configuration ---- */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The median. */
static jitgemm_status time_plan(const struct watch *watch,
                                const struct jg_dummy *dummy,
                                const jitgemm_plan *plan, int64_t *median)
{
    int64_t ns[MOST], all = 0;
    int count = 0;

    for (int i = 0; i < WARM_UP + MOST; i++) {
        jitgemm_status status = watch_start(watch);

        if (status == JITGEMM_OK)
            status = jg_dummy_run(dummy, plan);
        if (status == JITGEMM_OK)
            status = watch_stop(watch, &ns[count]);
        if (status != JITGEMM_OK)
            return status;
        if (i < WARM_UP)
            continue;
        all += ns[count++];
        if (count >= LEAST && all > ENOUGH_NS)
            break;
    }
    qsort(ns, (size_t)count, sizeof *ns, compare);
    *median = ns[count / 2];
    return JITGEMM_OK;
}

static jitgemm_status time_config(jitgemm_context *context,
                                  const jitgemm_problem *problem,
                                  const struct jg_config *config,
                                  const struct watch *watch,
                                  struct jg_dummy *dummy,
                                  struct jg_tuning_entry *entry)
{
    jitgemm_plan *plan = NULL;
    struct jg_problem checked; /* the plan takes it over */
    jitgemm_status status = jg_problem_read(problem, &checked);

    if (status == JITGEMM_OK) {
        status = jg_launch_create(context, &checked, config, &plan);
        jg_problem_free(&checked);
    }
    if (status == JITGEMM_OK)
        status = jg_dummy_bind(dummy, plan);
    if (status == JITGEMM_OK)
        status = time_plan(watch, dummy, plan, &entry->ns);
    if (status == JITGEMM_OK)
        memcpy(entry->kernel, plan->reports[plan->kernels - 1].name,
               sizeof entry->kernel);
    jg_launch_destroy(plan);
    return status;
}

/* ---- All of them ---- */

struct trial { /* of a problem */
    struct jg_tuning_entry model, best; /* what the model chooses, and what is
                                           fastest */
    int32_t tried;
};

static jitgemm_status time_all(jitgemm_context *context,
                               const jitgemm_problem *problem,
                               const struct jg_problem *checked,
                               const struct watch *watch,
                               struct jg_dummy *dummy, struct trial *trial)
{
    const struct jg_model *model = jg_model_of(context->device.family);
    struct jg_config chosen;
    jitgemm_status status =
        jg_plan_choose(checked, &context->device, &chosen);

    for (int i = 0; i < model->count && status == JITGEMM_OK; i++) {
        struct jg_config config = model->configs[i];
        struct jg_tuning_entry entry = trial->best;

        if (!jg_cut_allows(&config, checked, &context->device))
            continue;
        jg_plan_complete(checked, &config);
        status = time_config(context, problem, &config, watch, dummy, &entry);
        if (memcmp(&config, &chosen, sizeof config) == 0)
            trial->model = entry;
        if (!trial->tried++ || entry.ns < trial->best.ns)
            trial->best = entry;
    }
    return status;
}

static jitgemm_status check_problem(const jitgemm_context *context,
                                    const struct jg_problem *problem,
                                    struct jg_tuning_entry *entry)
{
    struct jg_config config;
    int64_t rows = 0;

    if (!context->cuda)
        return jg_fail(JITGEMM_E_NO_DEVICE,
                       "the context was made for arch %s, without a GPU: it "
                       "can measure nothing",
                       context->device.arch);
    if (!jg_tuning_class(problem, &context->device, entry))
        return jg_fail_argument(JITGEMM_E_SHAPE, "problem", -1, 0, 0,
                                "groups differ in n or k: such problems are "
                                "not tuned");
    for (int32_t g = 0; g < problem->groups; g++)
        rows += problem->sizes[g].m;
    if (!rows)
        return jg_fail_argument(JITGEMM_E_SHAPE, "problem.m", -1, 0, 1,
                                "no group has a row: there is nothing to "
                                "measure");
    return jg_plan_choose(problem, &context->device, &config);
}

/* In the CUDA context. */
static jitgemm_status tune(jitgemm_context *context,
                           const jitgemm_problem *problem,
                           const struct jg_problem *checked, CUstream stream,
                           struct trial *trial)
{
    struct jg_dummy dummy = {.context = NULL};
    struct watch watch;
    int64_t unused;
    jitgemm_status status = watch_open(context, stream, &watch);

    if (status == JITGEMM_OK)
        status = jg_dummy_make(context, checked, stream, &dummy);
    if (status == JITGEMM_OK)
        status = watch_start(&watch);
    if (status == JITGEMM_OK)
        status = watch_stop(&watch, &unused); /* the operands are there */
    if (status == JITGEMM_OK)
        status = time_all(context, problem, checked, &watch, &dummy, trial);
    jg_dummy_free(&dummy);
    watch_close(&watch);
    return status;
}

/* What gains less than the noise is not worth another kernel. */
static void settle(struct trial *trial)
{
    trial->best.model_ns = trial->model.ns;
    if (trial->best.ns * 100 > trial->model.ns * (100 - NOISE_PERCENT)) {
        trial->best = trial->model;
        trial->best.model_ns = trial->model.ns;
    }
}

jitgemm_status jitgemm_tune(jitgemm_context *context,
                            const jitgemm_problem *problem,
                            struct CUstream_st *stream, jitgemm_tuned *tuned)
{
    jitgemm_tuned report = {.size = sizeof report};
    struct jg_problem checked;
    struct trial trial = {.tried = 0};
    struct jg_visit visit;
    jitgemm_status status;

    if (!context)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "context", -1, 0, 0,
                                "context is NULL");
    status = jg_abi_read(&report, sizeof report, sizeof report, tuned,
                         "tuned");
    if (status == JITGEMM_OK)
        status = jg_problem_read(problem, &checked);
    if (status != JITGEMM_OK)
        return status;
    status = check_problem(context, &checked, &trial.best);
    if (status == JITGEMM_OK)
        status = jg_context_enter_relaxed(context, &visit);
    if (status == JITGEMM_OK) {
        status = tune(context, problem, &checked, stream, &trial);
        jg_context_leave(context, &visit);
    }
    jg_problem_free(&checked);
    if (status != JITGEMM_OK)
        return status;
    settle(&trial);
    status = jg_tuned_put(&context->tuned,
                          jg_registry_cache(context->registry),
                          &context->device, &context->client.log, &trial.best);
    if (status != JITGEMM_OK)
        return status;
    report.tried = trial.tried;
    report.us = (double)trial.best.ns / 1e3;
    report.model_us = (double)trial.model.ns / 1e3;
    memcpy(report.kernel, trial.best.kernel, sizeof report.kernel);
    memcpy(report.model_kernel, trial.model.kernel,
           sizeof report.model_kernel);
    return jg_abi_write(tuned, &report, sizeof report, sizeof report, "tuned");
}
