/* SPDX-License-Identifier: MIT */
/* NVRTC: embedded texts and options in, cubin and report out. */
#include "compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "keep.h"
#include "kernel_text.h"

enum {
    CODE_OPTIONS = 2,
    CANCELLED = 16 /* an nvrtcResult since 12.8 */
};

/* What shapes the code, sorted; part of the key. */
static int code_options(const struct jg_nvrtc *nvrtc,
                        const char *options[CODE_OPTIONS])
{
    int count = 0;

    if (nvrtc->line_info)
        options[count++] = "--generate-line-info";
    options[count++] = "--std=c++17";
    return count;
}

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
    const char *list[CODE_OPTIONS];
    int count = code_options(nvrtc, list);
    jitgemm_status status;

    add_sources(&sources);
    for (int i = 0; i < count; i++)
        jg_buf_printf(&options, "%s\n", list[i]);
    if (nvrtc->line_info && *nvrtc->keep_source) /* in the cubin, then */
        jg_buf_printf(&options, "source in %s\n", nvrtc->keep_source);
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
    char with[sizeof nvrtc->path + 40];

    snprintf(with, sizeof with, "NVRTC %d.%d, %s", nvrtc->major, nvrtc->minor,
             nvrtc->path);
    /* The complaint's line, file name included. */
    while (complaint && complaint > text && complaint[-1] != '\n')
        complaint--;
    if ((int)result == CANCELLED)
        jg_fail(status, "%s for %s was not compiled within %d s, the limit of "
                "JITGEMM_COMPILE_TIMEOUT (%s)",
                spec->name, spec->arch, nvrtc->timeout, with);
    else
        jg_fail(status, "%s of %s for %s: %s (%d)%s%.500s (%s)", call,
                spec->name, spec->arch, nvrtc->nvrtcGetErrorString(result),
                (int)result, *text ? ": " : "",
                complaint ? complaint : text, with);
    jg_error()->nvrtc = (int32_t)result;
    return status;
}

/* `name` is how debuggers know the program. */
static nvrtcResult create(const struct jg_nvrtc *nvrtc,
                          const struct jg_spec *spec, const char *name,
                          nvrtcProgram *program)
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
    result = nvrtc->nvrtcCreateProgram(program, source, name, (int)count,
                                       texts, names);
    free(texts);
    return result;
}

/* NVRTC asks whether to stop. */
static int is_late(void *deadline, void *reserved)
{
    (void)reserved;
    return jg_clock_ms() > *(const double *)deadline;
}

static nvrtcResult run_compiler(const struct jg_nvrtc *nvrtc,
                                nvrtcProgram program,
                                const struct jg_spec *spec)
{
    const char *options[CODE_OPTIONS + 3];
    char arch[40];
    int count = code_options(nvrtc, options);

    snprintf(arch, sizeof arch, "--gpu-architecture=%s", spec->arch);
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

/* Says so in the log if it cannot. */
static void keep_source(const char *folder, const struct jg_spec *spec,
                        struct jg_buf *log)
{
    int error = jg_keep(folder, spec, log);

    if (error)
        jg_buf_printf(log, "%s: source not kept: %s\n", folder,
                      strerror(error));
}

/* KEY's folder in that of JITGEMM_KEEP_SRC. */
static jitgemm_status name_folder(const struct jg_nvrtc *nvrtc,
                                  const struct jg_spec *spec, char *folder,
                                  size_t size)
{
    struct jg_key key = {0};
    jitgemm_status status = jg_compile_key(nvrtc, spec, &key);

    if (status == JITGEMM_OK)
        snprintf(folder, size, "%s/%s", nvrtc->keep_source, key.name);
    jg_key_free(&key);
    return status;
}

/* Fills the log and the cubin; *call is the function that failed, if any. */
static nvrtcResult compile(const struct jg_nvrtc *nvrtc,
                           const struct jg_spec *spec, const char *name,
                           struct jg_compiled *result, const char **call)
{
    double deadline = jg_clock_ms() + 1e3 * nvrtc->timeout;
    nvrtcProgram program = NULL;
    nvrtcResult code = create(nvrtc, spec, name, &program);

    *call = "nvrtcCreateProgram";
    if (code == NVRTC_SUCCESS) {
        *call = "nvrtcCompileProgram";
        if (nvrtc->timeout > 0 && nvrtc->nvrtcSetFlowCallback)
            nvrtc->nvrtcSetFlowCallback(program, is_late, &deadline);
        code = run_compiler(nvrtc, program, spec);
        read_log(nvrtc, program, &result->log);
    }
    if (code == NVRTC_SUCCESS) {
        *call = "nvrtcGetCUBIN";
        code = read_cubin(nvrtc, program, &result->cubin);
    }
    if (program)
        nvrtc->nvrtcDestroyProgram(&program);
    return code;
}

jitgemm_status jg_compile(const struct jg_nvrtc *nvrtc,
                          const struct jg_spec *spec,
                          struct jg_compiled *result)
{
    char folder[sizeof nvrtc->keep_source + JG_KEY_NAME_LENGTH + 2];
    char name[sizeof folder + 80];
    bool keep = *nvrtc->keep_source;
    double start = jg_clock_ms();
    const char *call;
    nvrtcResult code;
    jitgemm_status status = jg_compiler_check(nvrtc, spec->arch);

    if (status == JITGEMM_OK && keep)
        status = name_folder(nvrtc, spec, folder, sizeof folder);
    if (status != JITGEMM_OK)
        return status;
    /* A path would only make cubins differ, but for those with lines. */
    if (keep && nvrtc->line_info)
        snprintf(name, sizeof name, "%s/%s", folder, spec->program);
    else
        snprintf(name, sizeof name, "%s", spec->program);
    code = compile(nvrtc, spec, name, result, &call);
    if (keep)
        keep_source(folder, spec, &result->log);
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

void jg_compile_log(const struct jg_compiled *result,
                    const struct jg_spec *spec, const struct jg_log *log)
{
    const char *line = result->log.size ? (const char *)result->log.data : "";

    while (*line) {
        size_t length = strcspn(line, "\n");

        if (length)
            jg_log(log, JITGEMM_LOG_DEBUG, "%s: %.*s", spec->name,
                   (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void jg_compiled_free(struct jg_compiled *result)
{
    jg_buf_free(&result->cubin);
    jg_buf_free(&result->log);
    memset(result, 0, sizeof *result);
}
