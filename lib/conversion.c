/* SPDX-License-Identifier: MIT */
/* Conversions: a kernel, ready, and its launches. The public functions. */
#include <stdlib.h>

#include "abi.h"
#include "conversion_job.h"
#include "ready.h"

/* Blocks a multiprocessor at most. Eight are resident: more even out who has
 * how much to do, and those that find nothing cost about 1 us a thousand. */
#define BLOCKS_A_MULTIPROCESSOR 16

struct jitgemm_conversion {
    jitgemm_context *context;
    struct jg_conversion_kind kind;
    struct jg_spec spec;
    CUfunction function;
    jitgemm_kernel report;
};

static jitgemm_status fail_null(const char *argument)
{
    return jg_fail_argument(JITGEMM_E_ARGUMENT, argument, -1, 0, 0,
                            "%s is NULL", argument);
}

static jitgemm_status read_kind(const jitgemm_context *context,
                                const jitgemm_conversion_options *options,
                                struct jg_conversion_kind *kind,
                                struct jg_spec *spec)
{
    jitgemm_status status;

    if (!context)
        return fail_null("context");
    status = jg_conversion_kind_read(options, kind);
    if (status == JITGEMM_OK)
        jg_conversion_spec(kind, &context->device, spec);
    return status;
}

/* In the CUDA context, relaxed. */
static jitgemm_status make(struct jitgemm_conversion *conversion)
{
    struct jg_visit visit;
    jitgemm_status status =
        jg_context_enter_relaxed(conversion->context, &visit);

    if (status != JITGEMM_OK)
        return status;
    status = jg_ready_make(conversion->context, &conversion->spec,
                           conversion->spec.name, &conversion->function,
                           &conversion->report);
    jg_context_leave(conversion->context, &visit);
    return status;
}

jitgemm_status
jitgemm_conversion_create(jitgemm_context *context,
                          const jitgemm_conversion_options *options,
                          jitgemm_conversion **conversion)
{
    struct jg_conversion_kind kind;
    struct jg_spec spec;
    struct jitgemm_conversion *made;
    jitgemm_status status = read_kind(context, options, &kind, &spec);

    if (status != JITGEMM_OK)
        return status;
    if (!conversion)
        return fail_null("conversion");
    if (!context->cuda)
        return jg_fail(JITGEMM_E_NO_DEVICE,
                       "the context was made for arch %s, without a GPU: it "
                       "can prepare conversions, but not make them",
                       context->device.arch);
    made = calloc(1, sizeof *made);
    if (!made)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for a conversion");
    made->context = context;
    made->kind = kind;
    made->spec = spec;
    status = make(made);
    if (status != JITGEMM_OK)
        free(made);
    else
        *conversion = made;
    return status;
}

void jitgemm_conversion_destroy(jitgemm_conversion *conversion)
{
    free(conversion);
}

jitgemm_status
jitgemm_conversion_describe(jitgemm_context *context,
                            const jitgemm_conversion_options *options,
                            jitgemm_kernel *kernel)
{
    struct jg_conversion_kind kind;
    struct jg_spec spec;
    jitgemm_kernel report;
    jitgemm_status status = read_kind(context, options, &kind, &spec);

    if (status == JITGEMM_OK)
        status = jg_ready_describe(context, &spec, &report);
    if (status != JITGEMM_OK)
        return status;
    return jg_abi_write(kernel, &report, sizeof report, sizeof report,
                        "kernel");
}

jitgemm_status
jitgemm_conversion_prepare(jitgemm_context *context,
                           const jitgemm_conversion_options *options,
                           jitgemm_kernel *kernel)
{
    struct jg_conversion_kind kind;
    struct jg_spec spec;
    jitgemm_kernel report;
    jitgemm_status status = read_kind(context, options, &kind, &spec);

    if (status == JITGEMM_OK)
        status = jg_ready_prepare(context, &spec, spec.name, &report);
    if (status != JITGEMM_OK)
        return status;
    return jg_abi_write(kernel, &report, sizeof report, sizeof report,
                        "kernel");
}

/* Blocks at most. */
static int64_t most_blocks(const struct jitgemm_conversion *conversion)
{
    int64_t sms = conversion->context->device.sms;
    int64_t limit = conversion->kind.sm_limit;

    return limit && limit < sms ? limit : sms * BLOCKS_A_MULTIPROCESSOR;
}

static CUresult launch(const struct jitgemm_conversion *conversion,
                       struct jg_conversion_job *job, int64_t units,
                       CUstream stream)
{
    int64_t most = most_blocks(conversion);
    void *parameters[] = {job};
    CUlaunchAttribute dependent = {
        .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        .value.programmaticStreamSerializationAllowed = 1};
    CUlaunchConfig config = {
        .gridDimX = (unsigned)(units < most ? units : most),
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = (unsigned)conversion->spec.threads,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = (unsigned)conversion->spec.shared_bytes,
        .hStream = stream,
        .attrs = &dependent,
        .numAttrs = conversion->kind.dependent,
    };

    return conversion->context->cuda->cuLaunchKernelEx(
        &config, conversion->function, parameters, NULL);
}

jitgemm_status
jitgemm_conversion_run(const jitgemm_conversion *conversion,
                       const jitgemm_conversion_arguments *arguments,
                       struct CUstream_st *stream)
{
    struct jg_conversion_job job;
    struct jg_visit visit;
    int64_t units;
    CUresult result;
    jitgemm_status status;

    if (!conversion)
        return fail_null("conversion");
    status =
        jg_conversion_job_read(&conversion->kind, arguments, &job, &units);
    if (status != JITGEMM_OK || !units)
        return status;
    status = jg_context_enter(conversion->context, &visit);
    if (status != JITGEMM_OK)
        return status;
    result = launch(conversion, &job, units, stream);
    if (result != CUDA_SUCCESS)
        status = jg_driver_fail(conversion->context->cuda, result,
                                "cuLaunchKernelEx");
    jg_context_leave(conversion->context, &visit);
    return status;
}

jitgemm_status jitgemm_conversion_kernel(const jitgemm_conversion *conversion,
                                         jitgemm_kernel *kernel)
{
    if (!conversion)
        return fail_null("conversion");
    return jg_abi_write(kernel, &conversion->report, sizeof conversion->report,
                        sizeof conversion->report, "kernel");
}

int64_t jitgemm_scale_rows(jitgemm_place place, int64_t max_rows,
                           int32_t groups)
{
    if (max_rows < 0 || max_rows > INT64_C(1) << 46 || groups < 0 ||
        groups > 65536 || (int)place < JITGEMM_PLACE_TIGHT ||
        (int)place > JITGEMM_PLACE_STRIDED)
        return -1;
    return jg_scale_rows((int)place, max_rows, groups);
}
