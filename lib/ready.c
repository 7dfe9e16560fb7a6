/* SPDX-License-Identifier: MIT */
/* One kernel on its way from a spec to a function that can be launched. */
#include "ready.h"

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
    const struct jg_nvrtc *nvrtc;
    struct jg_key key = {0};
    jitgemm_status status = jg_fork_enter();

    if (status != JITGEMM_OK)
        return status;
    status = jg_context_nvrtc(context, &nvrtc);
    if (status == JITGEMM_OK)
        status = jg_compile_key(nvrtc, spec, &key);
    jg_fork_leave();
    if (status != JITGEMM_OK)
        return status;
    describe(spec, report);
    memcpy(report->key, key.name, sizeof key.name);
    jg_key_free(&key);
    return JITGEMM_OK;
}

jitgemm_status jg_ready_make(jitgemm_context *context,
                             const struct jg_spec *spec,
                             struct jg_kernel **kernel,
                             jitgemm_kernel *report)
{
    static const char *const sources[] = {"nowhere", "memory", "pack", "disk",
                                          "compiled"};
    const struct jg_nvrtc *nvrtc;
    double start = jg_clock_ms();
    jitgemm_status status = jg_fork_enter();

    if (status != JITGEMM_OK)
        return status;
    describe(spec, report);
    status = jg_context_nvrtc(context, &nvrtc);
    if (status == JITGEMM_OK)
        status = jg_registry_get(context->registry, nvrtc, spec,
                                 &context->log, kernel, &report->source);
    jg_fork_leave();
    if (status != JITGEMM_OK)
        return status;
    memcpy(report->key, (*kernel)->key, sizeof (*kernel)->key);
    report->registers = (int32_t)(*kernel)->registers;
    report->spill_bytes = (int32_t)(*kernel)->spill_bytes;
    report->shared_bytes =
        (int32_t)(*kernel)->shared_bytes + spec->shared_bytes;
    report->ms = jg_clock_ms() - start;
    jg_log(&context->log, JITGEMM_LOG_INFO, "%s %s %s: %s, %.1f ms",
           report->key, report->arch, report->name, sources[report->source],
           report->ms);
    return JITGEMM_OK;
}

jitgemm_status jg_ready_load(jitgemm_context *context,
                             const struct jg_spec *spec,
                             struct jg_kernel *kernel, CUfunction *function)
{
    const struct jg_cuda *cuda = context->cuda;
    const struct jg_nvrtc *nvrtc;
    CUkernel loaded;
    const char *call = "cuKernelGetFunction";
    CUresult result;
    jitgemm_status status = jg_fork_enter();

    if (status != JITGEMM_OK)
        return status;
    status = jg_context_nvrtc(context, &nvrtc);
    if (status == JITGEMM_OK)
        status = jg_registry_load(context->registry, cuda, nvrtc, spec,
                                  &context->log, kernel, &loaded);
    jg_fork_leave();
    if (status != JITGEMM_OK)
        return status;
    result = cuda->cuKernelGetFunction(function, loaded);
    if (result == CUDA_SUCCESS && spec->shared_bytes) {
        call = "cuFuncSetAttribute";
        result = cuda->cuFuncSetAttribute(
            *function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            spec->shared_bytes);
    }
    if (result != CUDA_SUCCESS)
        return jg_driver_fail(cuda, result, call);
    return JITGEMM_OK;
}
