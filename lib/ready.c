/* SPDX-License-Identifier: MIT */
/* One kernel on its way from a spec to a function that can be launched. */
#include "ready.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fork.h"

static void describe(const struct jg_spec *spec, jitgemm_kernel *report)
{
    memset(report, 0, sizeof *report);
    report->size = sizeof *report;
    memcpy(report->arch, spec->arch, sizeof report->arch);
    memcpy(report->name, spec->name, sizeof report->name);
    report->threads = spec->threads;
}

jitgemm_status jg_ready_describe(jitgemm_context *context,
                                 const struct jg_spec *spec,
                                 jitgemm_kernel *report)
{
    struct jg_request request = {
        .client = &context->client, .spec = spec, .cuda = context->cuda};
    struct jg_key key = {0};
    jitgemm_status status = jg_fork_enter();

    if (status != JITGEMM_OK)
        return status;
    status = jg_context_nvrtc(context, &request.nvrtc);
    if (status == JITGEMM_OK)
        status = jg_registry_key(context->registry, &request, &key);
    jg_fork_leave();
    if (status != JITGEMM_OK)
        return status;
    describe(spec, report);
    memcpy(report->key, key.name, sizeof key.name);
    jg_key_free(&key);
    return JITGEMM_OK;
}

/* Setting the attribute, if only to 0, also makes a driver that loads lazily
 * load the function. */
static jitgemm_status resolve(const struct jg_cuda *cuda, CUkernel kernel,
                              const struct jg_spec *spec, CUfunction *function)
{
    const char *call = "cuKernelGetFunction";
    CUresult result = cuda->cuKernelGetFunction(function, kernel);

    if (result == CUDA_SUCCESS) {
        call = "cuFuncSetAttribute";
        result = cuda->cuFuncSetAttribute(
            *function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            spec->shared_bytes);
    }
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, call);
    return JITGEMM_OK;
}

static jitgemm_status make(jitgemm_context *context,
                           struct jg_request *request, CUfunction *function,
                           jitgemm_kernel *report)
{
    const struct jg_spec *spec = request->spec;
    struct jg_made made = {.key = ""};
    jitgemm_status status = jg_fork_enter();

    if (status != JITGEMM_OK)
        return status;
    status = jg_context_nvrtc(context, &request->nvrtc);
    if (status == JITGEMM_OK)
        status = jg_registry_make(context->registry, request, &made);
    jg_fork_leave();
    if (status == JITGEMM_OK && request->cuda)
        status = resolve(request->cuda, made.kernel, spec, function);
    memcpy(report->key, made.key, sizeof made.key);
    report->source = made.source;
    report->registers = (int32_t)made.registers;
    report->spill_bytes = (int32_t)made.spill_bytes;
    report->shared_bytes = (int32_t)made.shared_bytes + spec->shared_bytes;
    return status;
}

/* The listener may fail in the library, and so overwrite the error. */
static void tell(jitgemm_context *context, const struct jg_request *request,
                 jitgemm_status status, const jitgemm_kernel *report)
{
    jitgemm_error error = *jg_error();
    jitgemm_event event = {
        .size = sizeof event,
        .status = status,
        .late = jg_gate_is_shut(&context->client.compiler),
        .kernel = report,
        .problem = request->problem,
        .text = status == JITGEMM_OK ? "" : error.text,
    };

    context->event(context->event_user, &event);
    *jg_error() = error;
}

static jitgemm_status make_and_tell(jitgemm_context *context,
                                    struct jg_request *request,
                                    CUfunction *function,
                                    jitgemm_kernel *report)
{
    static const char *const sources[] = {"nowhere", "memory", "pack", "disk",
                                          "compiled"};
    double start = jg_clock_ms();
    jitgemm_status status;

    request->client = &context->client;
    request->cuda = context->cuda;
    describe(request->spec, report);
    status = make(context, request, function, report);
    report->ms = jg_clock_ms() - start;
    jg_stats_add_request(&context->client.stats, status, report->source);
    if (status == JITGEMM_OK)
        jg_log(&context->client.log, JITGEMM_LOG_INFO, "%s %s %s: %s, %.1f ms",
               report->key, report->arch, report->name,
               sources[report->source], report->ms);
    if (context->event)
        tell(context, request, status, report);
    return status;
}

jitgemm_status jg_ready_make(jitgemm_context *context,
                             const struct jg_spec *spec, const char *problem,
                             CUfunction *function, jitgemm_kernel *report)
{
    struct jg_request request = {.spec = spec, .problem = problem};

    return make_and_tell(context, &request, function, report);
}

jitgemm_status jg_ready_prepare(jitgemm_context *context,
                                const struct jg_spec *spec,
                                const char *problem, jitgemm_kernel *report)
{
    struct jg_request request = {
        .spec = spec, .problem = problem, .retry = true};
    struct jg_visit visit = {.pushed = false};
    CUfunction unused;
    jitgemm_status status = JITGEMM_OK;

    if (context->cuda)
        status = jg_context_enter_relaxed(context, &visit);
    if (status != JITGEMM_OK)
        return status;
    status = make_and_tell(context, &request, &unused, report);
    if (context->cuda)
        jg_context_leave(context, &visit);
    return status;
}

struct prepare_job {
    struct jg_job job; /* first: freed by the pool */
    jitgemm_context *context;
    struct jg_spec spec;
    char problem[JG_PROBLEM_TEXT], key[JG_KEY_NAME_LENGTH + 1];
};

static jitgemm_status run_job(struct jg_job *job)
{
    struct prepare_job *mine = (struct prepare_job *)job;
    jitgemm_kernel unused;

    return jg_ready_prepare(mine->context, &mine->spec, mine->problem,
                            &unused);
}

/* A name of its own for each kernel, with or without a compiler. */
static jitgemm_status name_job(jitgemm_context *context,
                               const struct jg_spec *spec,
                               char name[JG_KEY_NAME_LENGTH + 1])
{
    const struct jg_nvrtc *nvrtc;
    struct jg_key key = {0};
    jitgemm_status status = jg_fork_enter();

    if (status != JITGEMM_OK)
        return status;
    status = jg_context_nvrtc(context, &nvrtc);
    if (status == JITGEMM_OK)
        status = jg_compile_key(nvrtc, spec, &key);
    jg_fork_leave();
    if (status == JITGEMM_OK)
        memcpy(name, key.name, sizeof key.name);
    jg_key_free(&key);
    return status;
}

jitgemm_status jg_ready_prepare_async(jitgemm_context *context,
                                      const struct jg_spec *spec,
                                      const char *problem)
{
    struct prepare_job *job;
    jitgemm_status status;

    if (jg_ready_peek(context, spec, problem) == JITGEMM_OK)
        return JITGEMM_OK;
    job = calloc(1, sizeof *job);
    if (!job)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for a job");
    status = name_job(context, spec, job->key);
    if (status != JITGEMM_OK) {
        free(job);
        return status;
    }
    job->job.run = run_job;
    job->job.name = job->key;
    job->context = context;
    job->spec = *spec;
    snprintf(job->problem, sizeof job->problem, "%s", problem);
    return jg_pool_add(&context->pool, &job->job);
}

jitgemm_status jg_ready_peek(jitgemm_context *context,
                             const struct jg_spec *spec, const char *problem)
{
    struct jg_request request = {
        .spec = spec, .cuda = context->cuda, .problem = problem};
    jitgemm_status status = jg_fork_enter();

    if (status != JITGEMM_OK)
        return status;
    status = jg_context_nvrtc(context, &request.nvrtc);
    if (status == JITGEMM_OK)
        status = jg_registry_peek(context->registry, &request);
    jg_fork_leave();
    return status;
}
