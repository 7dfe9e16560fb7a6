/* SPDX-License-Identifier: MIT */
/* The texts are embedded: the machine with the GPU has no sources. */
#include "nvrtc_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "compiler.h"
#include "gpu.h"

const struct jg_cuda *nvrtc_kernel_cuda;
static const struct jg_nvrtc *nvrtc;

bool nvrtc_kernel_open_compiler(void)
{
    if (jg_compiler_open(0, &nvrtc) == JITGEMM_OK)
        return true;
    printf("skipped: %s\n", jitgemm_last_error()->text);
    return false;
}

bool nvrtc_kernel_open(void)
{
    struct jg_env env = jg_env_read();

    gpu_jitgemm(jg_driver_cuda(&env, &nvrtc_kernel_cuda), "jg_driver_cuda");
    return nvrtc_kernel_open_compiler();
}

/* The text, and at its end what the emulated driver finds it by. */
static void make_source(const struct jg_kernel_text *texts, size_t count,
                        const char *program, struct jg_buf *source)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i].name, program) == 0)
            jg_buf_printf(source,
                          "%s\nextern \"C\" __device__ char jitgemm_spec[] = "
                          "\"../%s\\n\";\n",
                          texts[i].text, program);
    if (source->failed || !source->size)
        exit(99);
}

static nvrtcResult create(const struct jg_kernel_text *own, size_t own_count,
                          const char *name, nvrtcProgram *program)
{
    size_t all = jg_kernel_texts_count + own_count, count = 0;
    const char **texts = calloc(2 * all, sizeof *texts);
    const char **names = texts + all;
    struct jg_buf source = {0};
    nvrtcResult result;

    make_source(own, own_count, name, &source);
    for (size_t i = 0; i < jg_kernel_texts_count; i++) {
        texts[count] = jg_kernel_texts[i].text;
        names[count++] = jg_kernel_texts[i].name;
    }
    for (size_t i = 0; i < own_count; i++) {
        texts[count] = own[i].text;
        names[count++] = strrchr(own[i].name, '/') + 1;
    }
    result = nvrtc->nvrtcCreateProgram(program, (const char *)source.data,
                                       name, (int)count, texts, names);
    jg_buf_free(&source);
    free(texts);
    return result;
}

/* ptxas: C75xx says that wgmma was serialized or setmaxnreg ignored. */
static void check_log(const char *name, nvrtcProgram program, bool compiled)
{
    size_t size = 0;
    char *log;

    nvrtc->nvrtcGetProgramLogSize(program, &size);
    log = calloc(size + 1, 1);
    nvrtc->nvrtcGetProgramLog(program, log);
    if (!compiled || strstr(log, "C7") || strstr(log, "warning") ||
        !strstr(log, " 0 bytes spill stores")) {
        printf("%s:\n%s\n", name, log);
        exit(1);
    }
    free(log);
}

void *nvrtc_kernel_cubin(const struct jg_kernel_text *texts, size_t count,
                         const char *name, const char *arch, size_t *size)
{
    char option[40];
    const char *options[] = {"--std=c++17", option, "--ptxas-options=-v",
                             "--no-cache"};
    bool has_cache = nvrtc->major > 12 || nvrtc->minor >= 9;
    nvrtcProgram program = NULL;
    nvrtcResult result;
    void *cubin = NULL;

    snprintf(option, sizeof option, "--gpu-architecture=%s", arch);
    if (create(texts, count, name, &program) != NVRTC_SUCCESS)
        exit(99);
    result =
        nvrtc->nvrtcCompileProgram(program, has_cache ? 4 : 3, options);
    if (result != NVRTC_ERROR_INVALID_OPTION) {
        check_log(name, program, result == NVRTC_SUCCESS);
        nvrtc->nvrtcGetCUBINSize(program, size);
        cubin = calloc(*size + 1, 1);
        if (nvrtc->nvrtcGetCUBIN(program, cubin) != NVRTC_SUCCESS)
            exit(99);
    }
    nvrtc->nvrtcDestroyProgram(&program);
    return cubin;
}

CUfunction nvrtc_kernel_load(const struct jg_kernel_text *texts, size_t count,
                             const char *program, const char *symbol,
                             const char *arch)
{
    const struct jg_cuda *cuda = nvrtc_kernel_cuda;
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    size_t size;
    void *cubin = nvrtc_kernel_cubin(texts, count, program, arch, &size);

    if (!cubin) {
        printf("%s: NVRTC knows no %s\n", program, arch);
        exit(1);
    }
    gpu_check(
        cuda->cuLibraryLoadData(&library, cubin, NULL, NULL, 0, NULL, NULL, 0),
        "cuLibraryLoadData");
    free(cubin);
    gpu_check(cuda->cuLibraryGetKernel(&kernel, library, symbol),
              "cuLibraryGetKernel");
    gpu_check(cuda->cuKernelGetFunction(&function, kernel),
              "cuKernelGetFunction");
    return function;
}
