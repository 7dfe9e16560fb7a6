/* SPDX-License-Identifier: MIT */
/* NVRTC: embedded texts and options in, cubin and report out. */
#include "compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "kernel_text.h"

/* What shapes the code, sorted; part of the key. */
static const char *const code_options[] = {"--std=c++17"};
#define CODE_OPTIONS (sizeof code_options / sizeof *code_options)

static void add_sources(struct jg_buf *all)
{
    for (size_t i = 0; i < jg_kernel_texts_count; i++) {
        /* With their NULs, so that no two tables run together alike. */
        jg_buf_add(all, jg_kernel_texts[i].name,
                   strlen(jg_kernel_texts[i].name) + 1);
        jg_buf_add(all, jg_kernel_texts[i].text,
                   strlen(jg_kernel_texts[i].text) + 1);
    }
}

jitgemm_status jg_compile_key(const struct jg_nvrtc *nvrtc,
                              const struct jg_spec *spec, struct jg_key *key)
{
    char digest[JG_KEY_NAME_LENGTH + 1], version[32];
    struct jg_buf sources = {0}, options = {0};
    jitgemm_status status;

    add_sources(&sources);
    for (size_t i = 0; i < CODE_OPTIONS; i++)
        jg_buf_printf(&options, "%s\n", code_options[i]);
    if (sources.failed || options.failed) {
        status = jg_fail(JITGEMM_E_MEMORY, "no memory for a kernel's key");
        goto out;
    }
    jg_key_digest(sources.data, sources.size, digest);
    snprintf(version, sizeof version, "%d.%d", nvrtc->major, nvrtc->minor);
    status = jg_key_make(
        &(struct jg_key_fields){
            .kernel = spec->program,
            .spec = spec->text,
            .sources = digest,
            .options = (const char *)options.data,
            .arch = spec->arch,
            .output = "cubin",
            .nvrtc = version,
            .nvrtc_id = nvrtc->id,
            .builtins_id = nvrtc->builtins_id,
        },
        key);
out:
    jg_buf_free(&sources);
    jg_buf_free(&options);
    return status;
}

static jitgemm_status fail(const struct jg_nvrtc *nvrtc, nvrtcResult result,
                           const char *call, const struct jg_spec *spec,
                           const struct jg_buf *log)
{
    const char *text = log->size ? (const char *)log->data : "";
    const char *complaint = strstr(text, "error");
    jitgemm_status status = result == NVRTC_ERROR_OUT_OF_MEMORY
                                ? JITGEMM_E_MEMORY
                                : JITGEMM_E_COMPILE;

    /* The complaint's line, file name included. */
    while (complaint && complaint > text && complaint[-1] != '\n')
        complaint--;
    jg_fail(status, "%s of %s for %s: %s (%d)%s%.500s", call, spec->name,
            spec->arch, nvrtc->nvrtcGetErrorString(result), (int)result,
            *text ? ": " : "", complaint ? complaint : text);
    jg_error()->nvrtc = (int32_t)result;
    return status;
}

static nvrtcResult create(const struct jg_nvrtc *nvrtc,
                          const struct jg_spec *spec, nvrtcProgram *program)
{
    size_t count = jg_kernel_texts_count + 1;
    const char **texts = calloc(2 * count, sizeof *texts);
    const char **names = texts + count, *source = "";
    nvrtcResult result;

    if (!texts)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < jg_kernel_texts_count; i++) {
        texts[i] = jg_kernel_texts[i].text;
        names[i] = jg_kernel_texts[i].name;
        if (strcmp(names[i], spec->program) == 0)
            source = texts[i];
    }
    texts[count - 1] = spec->text;
    names[count - 1] = "spec.cuh";
    result = nvrtc->nvrtcCreateProgram(program, source, spec->program,
                                       (int)count, texts, names);
    free(texts);
    return result;
}

static nvrtcResult run_compiler(const struct jg_nvrtc *nvrtc,
                                nvrtcProgram program,
                                const struct jg_spec *spec)
{
    const char *options[CODE_OPTIONS + 3];
    char arch[40];
    int count = 0;

    snprintf(arch, sizeof arch, "--gpu-architecture=%s", spec->arch);
    for (size_t i = 0; i < CODE_OPTIONS; i++)
        options[count++] = code_options[i];
    options[count++] = arch;
    options[count++] = "--ptxas-options=-v";
    /* NVRTC's own cache (from 12.9 on) would answer without a report. */
    if (nvrtc->major > 12 || nvrtc->minor >= 9)
        options[count++] = "--no-cache";
    return nvrtc->nvrtcCompileProgram(program, count, options);
}

static void read_log(const struct jg_nvrtc *nvrtc, nvrtcProgram program,
                     struct jg_buf *log)
{
    size_t size = 0; /* with its NUL */
    char *text;

    if (nvrtc->nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS ||
        size < 2)
        return;
    text = malloc(size);
    if (text && nvrtc->nvrtcGetProgramLog(program, text) == NVRTC_SUCCESS)
        jg_buf_add(log, text, strlen(text));
    free(text);
}

static nvrtcResult read_cubin(const struct jg_nvrtc *nvrtc,
                              nvrtcProgram program, struct jg_buf *cubin)
{
    size_t size = 0;
    nvrtcResult result = nvrtc->nvrtcGetCUBINSize(program, &size);
    char *bytes;

    if (result != NVRTC_SUCCESS)
        return result;
    bytes = malloc(size ? size : 1);
    if (!bytes)
        return NVRTC_ERROR_OUT_OF_MEMORY;
    result = nvrtc->nvrtcGetCUBIN(program, bytes);
    if (result == NVRTC_SUCCESS)
        jg_buf_add(cubin, bytes, size);
    free(bytes);
    return cubin->failed ? NVRTC_ERROR_OUT_OF_MEMORY : result;
}

/* The sum of all numbers that stand right before `word` in the log. */
static uint32_t number_before(const struct jg_buf *log, const char *word)
{
    const char *text = log->size ? (const char *)log->data : "";
    const char *at = text;
    uint32_t sum = 0;

    while ((at = strstr(at, word))) {
        const char *digits = at;

        while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        sum += (uint32_t)strtoul(digits, NULL, 10);
        at += strlen(word);
    }
    return sum;
}

jitgemm_status jg_compile(const struct jg_nvrtc *nvrtc,
                          const struct jg_spec *spec,
                          struct jg_compiled *result)
{
    nvrtcProgram program = NULL;
    double start = jg_clock_ms();
    const char *call = "nvrtcCreateProgram";
    nvrtcResult code = create(nvrtc, spec, &program);

    if (code == NVRTC_SUCCESS) {
        call = "nvrtcCompileProgram";
        code = run_compiler(nvrtc, program, spec);
        read_log(nvrtc, program, &result->log);
    }
    if (code == NVRTC_SUCCESS) {
        call = "nvrtcGetCUBIN";
        code = read_cubin(nvrtc, program, &result->cubin);
    }
    if (program)
        nvrtc->nvrtcDestroyProgram(&program);
    if (code != NVRTC_SUCCESS)
        return fail(nvrtc, code, call, spec, &result->log);

    /* "Used 168 registers", "0 bytes spill stores, 0 bytes spill loads",
     * "64 bytes smem". */
    result->registers = number_before(&result->log, " registers");
    result->spill_bytes = number_before(&result->log, " bytes spill stores") +
                          number_before(&result->log, " bytes spill loads");
    result->shared_bytes = number_before(&result->log, " bytes smem");
    result->ms = jg_clock_ms() - start;
    return JITGEMM_OK;
}

void jg_compiled_free(struct jg_compiled *result)
{
    jg_buf_free(&result->cubin);
    jg_buf_free(&result->log);
    memset(result, 0, sizeof *result);
}
