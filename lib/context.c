/* SPDX-License-Identifier: MIT */
/* Making contexts, and entering their CUDA context. */
#define _POSIX_C_SOURCE 200809L /* sysconf */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fork.h"

static void log_to_stderr(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    fprintf(stderr, "jitgemm: %s\n", line);
}

static struct jg_log choose_log(const jitgemm_context_options *options,
                                const struct jg_env *env)
{
    if (options->log)
        return (struct jg_log){options->log, options->log_user,
                               options->log_level};
    return (struct jg_log){log_to_stderr, NULL, env->log_level};
}

/* Compiles take a core and some 75 MB each. */
static int choose_jobs(const struct jg_env *env)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return env->jobs > 0 ? env->jobs : cores < 4 ? (int)cores : 4;
}

/* Finds the CUDA context to live in and describes its device. */
static jitgemm_status open_device(struct jitgemm_context *context,
                                  int32_t ordinal)
{
    const struct jg_cuda *cuda = context->cuda;
    CUresult result;

    if (ordinal == JITGEMM_CURRENT_CONTEXT) {
        result = cuda->cuCtxGetCurrent(&context->current);
        if (result == CUDA_SUCCESS && !context->current)
            return jg_fail_argument(
                JITGEMM_E_ARGUMENT, "options.device", -1, ordinal, 0,
                "options.device is JITGEMM_CURRENT_CONTEXT, but the calling "
                "thread has no current CUDA context");
        if (result == CUDA_SUCCESS)
            result = cuda->cuCtxGetDevice(&context->handle);
        if (result != CUDA_SUCCESS)
            return jg_driver_fail(cuda, result, "cuCtxGetCurrent");
        return jg_device_query(cuda, context->handle, &context->device);
    }
    result = cuda->cuDeviceGet(&context->handle, ordinal);
    if (result != CUDA_SUCCESS) {
        jitgemm_status status = jg_driver_fail(cuda, result, "cuDeviceGet");

        jg_error()->argument = "options.device";
        jg_error()->got = ordinal;
        return status;
    }
    /* Before the primary context, which costs time and memory. */
    jitgemm_status status =
        jg_device_query(cuda, context->handle, &context->device);
    if (status != JITGEMM_OK)
        return status;
    result = cuda->cuDevicePrimaryCtxRetain(&context->current,
                                            context->handle);
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, "cuDevicePrimaryCtxRetain");
    context->retained = true;
    return JITGEMM_OK;
}

static jitgemm_status check_options(const jitgemm_context_options *options)
{
    if (options->flags)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.flags", -1,
                                options->flags, 0,
                                "options.flags is %#x; no flag is known",
                                options->flags);
    if (options->device < JITGEMM_CURRENT_CONTEXT)
        return jg_fail_argument(JITGEMM_E_ARGUMENT, "options.device", -1,
                                options->device, 0,
                                "options.device is %d; it must be an ordinal "
                                "or JITGEMM_CURRENT_CONTEXT",
                                (int)options->device);
    return JITGEMM_OK;
}

jitgemm_status jg_context_create(const jitgemm_context_options *options,
                                 jitgemm_context **out)
{
    struct jg_env env = jg_env_read();
    struct jitgemm_context *context;
    jitgemm_status status = check_options(options);

    if (status == JITGEMM_OK)
        status = jg_fork_enter();
    if (status != JITGEMM_OK)
        return status;
    context = calloc(1, sizeof *context);
    if (!context) {
        status = jg_fail(JITGEMM_E_MEMORY, "no memory for a context");
        goto out;
    }
    context->client.log = choose_log(options, &env);
    context->event = options->event;
    context->event_user = options->event_user;
    jg_pool_open(&context->pool, choose_jobs(&env));
    pthread_mutex_init(&context->lock, NULL);
    jg_tuned_open(&context->tuned);
    jg_gate_open(&context->client.compiler);
    if (env.mode && strcmp(env.mode, "strict") == 0)
        jg_gate_shut(&context->client.compiler);
    if (options->arch) {
        status = jg_device_of_arch(options->arch, &context->device);
    } else {
        status = jg_driver_cuda(&env, &context->cuda);
        if (status == JITGEMM_OK)
            status = open_device(context, options->device);
    }
    if (status != JITGEMM_OK)
        goto out;
    context->registry = jg_registry_open(options->cache_dir, &env,
                                         &context->client.log);
    if (!context->registry) {
        status = jg_fail(JITGEMM_E_MEMORY, "no memory for a context");
        goto out;
    }
    *out = context;
out:
    if (status != JITGEMM_OK)
        jg_context_destroy(context);
    jg_fork_leave();
    return status;
}

void jg_context_destroy(jitgemm_context *context)
{
    if (!context)
        return;
    /* A child leaves alone what is not its own. */
    if ((context->cuda && jg_driver_alive(context->cuda) != JITGEMM_OK) ||
        jg_fork_enter() != JITGEMM_OK)
        return;
    jg_pool_close(&context->pool);
    jg_registry_close(context->registry);
    if (context->retained)
        context->cuda->cuDevicePrimaryCtxRelease(context->handle);
    jg_gate_destroy(&context->client.compiler);
    jg_tuned_close(&context->tuned);
    pthread_mutex_destroy(&context->lock);
    free(context);
    jg_fork_leave();
}

jitgemm_status jg_context_nvrtc(jitgemm_context *context,
                                const struct jg_nvrtc **nvrtc)
{
    jitgemm_status status = JITGEMM_OK;

    pthread_mutex_lock(&context->lock);
    if (!jg_compiler_is_absent(&context->absent))
        status = jg_compiler_open(jg_driver_newest(context->cuda), nvrtc);
    if (status == JITGEMM_E_NO_NVRTC) {
        jg_compiler_absent(&context->absent);
        status = JITGEMM_OK;
    }
    if (jg_compiler_is_absent(&context->absent))
        *nvrtc = &context->absent;
    pthread_mutex_unlock(&context->lock);
    return status;
}

jitgemm_status jg_context_enter(const jitgemm_context *context,
                                struct jg_visit *visit)
{
    CUcontext current = NULL;
    CUresult result;
    jitgemm_status status = jg_driver_alive(context->cuda);

    *visit = (struct jg_visit){.pushed = false};
    if (status != JITGEMM_OK)
        return status;
    result = context->cuda->cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(context->cuda, result, "cuCtxGetCurrent");
    if (current == context->current)
        return JITGEMM_OK;
    result = context->cuda->cuCtxPushCurrent(context->current);
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(context->cuda, result, "cuCtxPushCurrent");
    visit->pushed = true;
    return JITGEMM_OK;
}

jitgemm_status jg_context_enter_relaxed(const jitgemm_context *context,
                                        struct jg_visit *visit)
{
    jitgemm_status status = jg_context_enter(context, visit);

    if (status != JITGEMM_OK)
        return status;
    visit->relaxed = true;
    visit->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    context->cuda->cuThreadExchangeStreamCaptureMode(&visit->mode);
    return JITGEMM_OK;
}

void jg_context_leave(const jitgemm_context *context,
                      const struct jg_visit *visit)
{
    CUstreamCaptureMode mode = visit->mode;
    CUcontext popped;

    if (visit->relaxed)
        context->cuda->cuThreadExchangeStreamCaptureMode(&mode);
    if (visit->pushed)
        context->cuda->cuCtxPopCurrent(&popped);
}
