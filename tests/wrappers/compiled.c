/* SPDX-License-Identifier: MIT */
/* The texts are embedded: the machine with the GPU has no sources. */
#include "compiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "compiler.h"
#include "gpu.h"
#include "kernel_text.h"
#include "programs.h"

const struct jg_cuda *compiled_cuda;
static const struct jg_nvrtc *nvrtc;

/* Made by kernel_src/embed.sh of this folder. */
extern const struct jg_kernel_text wrapper_texts[];
extern const size_t wrapper_texts_count;

#define COUNTED(name) +1
enum {
    MOST_SHARED = 232448, /* 227 KiB */
    PROGRAMS = WRAPPER_PROGRAMS(COUNTED)
};

bool compiled_open(void)
{
    struct jg_env env = jg_env_read();
    int major = 0;

    if (!gpu_open())
        return false;
    gpu_jitgemm(jg_driver_cuda(&env, &compiled_cuda), "jg_driver_cuda");
    gpu_check(compiled_cuda->cuDeviceGetAttribute(
                  &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
              "cuDeviceGetAttribute");
    if (major != 9) {
        printf("skipped: %s is no sm_90\n", gpu.name);
        return false;
    }
    if (jg_compiler_open(0, &nvrtc) != JITGEMM_OK) {
        printf("skipped: %s\n", jitgemm_last_error()->text);
        return false;
    }
    return true;
}

/* The text, and at its end what the emulated driver finds it by. */
static void make_source(const char *name, struct jg_buf *source)
{
    char path[64];

    snprintf(path, sizeof path, "tests/wrappers/%s.cu", name);
    for (size_t i = 0; i < wrapper_texts_count; i++)
        if (strcmp(wrapper_texts[i].name, path) == 0)
            jg_buf_printf(source,
                          "%s\nextern \"C\" __device__ char jitgemm_spec[] = "
                          "\"../%s\\n\";\n",
                          wrapper_texts[i].text, path);
    if (source->failed || !source->size)
        exit(99);
}

static nvrtcResult create(const char *name, nvrtcProgram *program)
{
    size_t all = jg_kernel_texts_count + wrapper_texts_count, count = 0;
    const char **texts = calloc(2 * all, sizeof *texts);
    const char **names = texts + all;
    struct jg_buf source = {0};
    nvrtcResult result;

    make_source(name, &source);
    for (size_t i = 0; i < jg_kernel_texts_count; i++) {
        texts[count] = jg_kernel_texts[i].text;
        names[count++] = jg_kernel_texts[i].name;
    }
    for (size_t i = 0; i < wrapper_texts_count; i++) {
        texts[count] = wrapper_texts[i].text;
        names[count++] = strrchr(wrapper_texts[i].name, '/') + 1;
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
        printf("%s.cu:\n%s\n", name, log);
        exit(1);
    }
    free(log);
}

static void *compile(const char *name)
{
    static const char *const options[] = {"--std=c++17",
                                          "--gpu-architecture=sm_90a",
                                          "--ptxas-options=-v", "--no-cache"};
    bool has_cache = nvrtc->major > 12 || nvrtc->minor >= 9;
    nvrtcProgram program = NULL;
    size_t size = 0;
    void *cubin;

    if (create(name, &program) != NVRTC_SUCCESS)
        exit(99);
    check_log(name, program,
              nvrtc->nvrtcCompileProgram(program, has_cache ? 4 : 3,
                                         options) == NVRTC_SUCCESS);
    nvrtc->nvrtcGetCUBINSize(program, &size);
    cubin = calloc(size + 1, 1);
    if (nvrtc->nvrtcGetCUBIN(program, cubin) != NVRTC_SUCCESS)
        exit(99);
    nvrtc->nvrtcDestroyProgram(&program);
    return cubin;
}

static CUfunction load(const char *name)
{
    char symbol[40];
    void *cubin = compile(name);
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;

    snprintf(symbol, sizeof symbol, "wrap_%s", name);
    gpu_check(compiled_cuda->cuLibraryLoadData(&library, cubin, NULL, NULL, 0,
                                               NULL, NULL, 0),
              "cuLibraryLoadData");
    free(cubin);
    gpu_check(compiled_cuda->cuLibraryGetKernel(&kernel, library, symbol),
              "cuLibraryGetKernel");
    gpu_check(compiled_cuda->cuKernelGetFunction(&function, kernel),
              "cuKernelGetFunction");
    gpu_check(compiled_cuda->cuFuncSetAttribute(
                  function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  MOST_SHARED),
              "cuFuncSetAttribute");
    return function;
}

CUfunction compiled_function(const char *name)
{
    static struct {
        char name[16];
        CUfunction function;
    } loaded[PROGRAMS];
    size_t i = 0;

    while (i < PROGRAMS - 1 && *loaded[i].name &&
           strcmp(loaded[i].name, name) != 0)
        i++;
    if (strcmp(loaded[i].name, name) != 0) {
        loaded[i].function = load(name);
        snprintf(loaded[i].name, sizeof loaded[i].name, "%s", name);
    }
    return loaded[i].function;
}
