/* SPDX-License-Identifier: MIT */
/* What a compile is given, how long it may take, what is kept of it, and what
 * of all that is in the key. */
#define _GNU_SOURCE /* nftw */
#include "compile.h"

#include "clock.h"
#include "fake/fakes.h"
#include "kernel_text.h"
#include "plan.h"
#include "scratch.h"

static struct fakes fakes;
static struct jg_nvrtc nvrtc; /* a copy, to be changed */
static struct jg_spec spec;

static jitgemm_status compile(struct jg_compiled *result)
{
    jg_compiled_free(result);
    return jg_compile(&nvrtc, &spec, result);
}

static void test_options(void)
{
    struct jg_compiled result = {.ms = 0};

    CHECK_INT(compile(&result), JITGEMM_OK);
    CHECK_STR(fakes.nvrtc->name, "gemm/sm90_nvfp4.cu");
    /* No precompiled headers, no cache but ours. */
    CHECK_STR(fakes.nvrtc->options,
              "--std=c++17\n--gpu-architecture=sm_90a\n--ptxas-options=-v\n"
              "--no-cache\n");
    nvrtc.line_info = true;
    CHECK_INT(compile(&result), JITGEMM_OK);
    CHECK(strncmp(fakes.nvrtc->options, "--generate-line-info\n", 21) == 0);
    nvrtc.line_info = false;
    nvrtc.major = 12; /* which has no --no-cache before 12.9 */
    nvrtc.minor = 8;
    CHECK_INT(compile(&result), JITGEMM_OK);
    CHECK(strstr(fakes.nvrtc->options, "cache") == NULL);
    nvrtc.minor = 3; /* too old for the architecture: nothing is compiled */
    fakes.nvrtc->compiles = 0;
    CHECK_INT(compile(&result), JITGEMM_E_NO_NVRTC);
    CHECK_INT(fakes.nvrtc->compiles, 0);
    nvrtc.major = 13;
    nvrtc.minor = 0;
    jg_compiled_free(&result);
}

static void test_deadline(void)
{
    struct jg_compiled result = {.ms = 0};
    double start = jg_clock_ms();

    fakes.nvrtc->ms = 10000;
    nvrtc.timeout = 1;
    CHECK_INT(compile(&result), JITGEMM_E_COMPILE);
    CHECK(jg_clock_ms() - start > 999 && jg_clock_ms() - start < 5000);
    CHECK(strstr(jitgemm_last_error()->text,
                 "within 1 s, the limit of JITGEMM_COMPILE_TIMEOUT (NVRTC "
                 "13.0, ") != NULL);
    CHECK_INT(jitgemm_last_error()->nvrtc, 16);
    CHECK(strstr((const char *)result.log.data, "as told") != NULL);
    fakes.nvrtc->ms = 20;
    CHECK_INT(compile(&result), JITGEMM_OK);
    nvrtc.nvrtcSetFlowCallback = NULL; /* an old one: no limit */
    CHECK_INT(compile(&result), JITGEMM_OK);
    nvrtc.timeout = 0;
    jg_compiled_free(&result);
}

static void count_lines(void *user, int level, const char *line)
{
    struct jg_buf *all = user;

    CHECK_INT(level, JITGEMM_LOG_DEBUG);
    jg_buf_printf(all, "%s|", line);
}

/* All of a log gets out, however long, and the error has the complaint. */
static void test_log(void)
{
    struct jg_compiled result = {.ms = 0};
    struct jg_buf all = {0};
    struct jg_log log = {count_lines, &all, JITGEMM_LOG_DEBUG};
    char long_line[700];

    fakes.nvrtc->result = NVRTC_ERROR_COMPILATION;
    CHECK_INT(compile(&result), JITGEMM_E_COMPILE);
    CHECK(strstr(jitgemm_last_error()->text,
                 "(6): gemm/x.cu(2): error: as told") != NULL);
    fakes.nvrtc->result = NVRTC_SUCCESS;
    memset(long_line, 'x', sizeof long_line);
    for (int i = 0; i < 4; i++) {
        jg_buf_add(&result.log, long_line, sizeof long_line);
        jg_buf_printf(&result.log, "\nline %d\n\n", i);
    }
    snprintf(spec.name, sizeof spec.name, "it");
    jg_compile_log(&result, &spec, &log);
    CHECK(strncmp((char *)all.data,
                  "it: gemm/x.cu(1): note: look|"
                  "it: gemm/x.cu(2): error: as told|it: xxx",
                  67) == 0);
    CHECK(strstr((char *)all.data, "x|it: line 3|") != NULL);
    CHECK_INT(all.size,
              strlen("it: gemm/x.cu(1): note: look|it: gemm/x.cu(2)"
                     ": error: as told|") +
                  4 * (sizeof long_line + 5 + strlen("it: line 0|")));
    jg_buf_free(&all);
    jg_compiled_free(&result);
}

static void expect_file(const char *folder, const char *name, const char *text)
{
    char path[200];
    size_t size;
    char *bytes;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    bytes = read_file(in_scratch(path), &size);
    CHECK_INT(size, strlen(text));
    CHECK(bytes && memcmp(bytes, text, size) == 0);
    free(bytes);
}

static void key_name(char name[JG_KEY_NAME_LENGTH + 1])
{
    struct jg_key key = {.blob = {.data = NULL}};

    CHECK_INT(jg_compile_key(&nvrtc, &spec, &key), JITGEMM_OK);
    memcpy(name, key.name, sizeof key.name);
    jg_key_free(&key);
}

static void test_keep(void)
{
    struct jg_compiled result = {.ms = 0};
    char key[JG_KEY_NAME_LENGTH + 1], name[100];

    CHECK((size_t)snprintf(nvrtc.keep_source, sizeof nvrtc.keep_source, "%s",
                           scratch) < sizeof nvrtc.keep_source);
    CHECK_INT(compile(&result), JITGEMM_OK);
    CHECK_STR(fakes.nvrtc->name, "gemm/sm90_nvfp4.cu");
    key_name(key);
    for (size_t i = 0; i < jg_kernel_texts_count; i++)
        expect_file(key, jg_kernel_texts[i].name, jg_kernel_texts[i].text);
    expect_file(key, "spec.cuh", spec.text);
    expect_file(key, "log", (char *)result.log.data);
    CHECK_INT(count_files(scratch), (int)jg_kernel_texts_count + 2);

    nvrtc.line_info = true;
    CHECK_INT(compile(&result), JITGEMM_OK);
    key_name(key);
    snprintf(name, sizeof name, "%s/gemm/sm90_nvfp4.cu", key);
    CHECK_STR(fakes.nvrtc->name, in_scratch(name));
    CHECK(exists(fakes.nvrtc->name));
    nvrtc.line_info = false;

    /* Where nothing can be kept, a compile goes on and says so. */
    snprintf(nvrtc.keep_source, sizeof nvrtc.keep_source, "/nowhere");
    CHECK_INT(compile(&result), JITGEMM_OK);
    CHECK(strstr((char *)result.log.data, "source not kept: No such file"));
    nvrtc.keep_source[0] = 0;
    jg_compiled_free(&result);
}

/* What is compiled, and with what, is in the key. What only says where, how
 * long or where from is not. */
static void test_key(void)
{
    char base[JG_KEY_NAME_LENGTH + 1], other[JG_KEY_NAME_LENGTH + 1];
    struct jg_nvrtc nvrtc_before = nvrtc;
    struct jg_spec spec_before = spec;

    key_name(base);
#define KEY(same_, change)                                                    \
    do {                                                                      \
        change;                                                               \
        key_name(other);                                                      \
        CHECK_INT(strcmp(base, other) == 0, same_);                           \
        nvrtc = nvrtc_before;                                                 \
        spec = spec_before;                                                   \
    } while (0)
    KEY(1, spec.name[0]++);
    KEY(1, spec.symbol = "x");
    KEY(1, nvrtc.timeout = 7);
    KEY(1, nvrtc.path[0] = '~');
    KEY(1, strcpy(nvrtc.keep_source, "/a"));
    KEY(1, CHECK(chdir(scratch) == 0));
    KEY(1, setenv("TMPDIR", scratch, 1));
    KEY(1, setenv("PATH", scratch, 1));
    KEY(1, setenv("CUDA_HOME", scratch, 1));
    KEY(1, setenv("HOME", scratch, 1));
    KEY(0, spec.program = "gemm/x.cu");
    KEY(0, spec.arch[3]++);
    KEY(0, spec.text[20]++);
    KEY(0, nvrtc.major++);
    KEY(0, nvrtc.minor++);
    KEY(0, nvrtc.id[0]++);
    KEY(0, nvrtc.builtins_id[0]++);
    KEY(0, nvrtc.line_info = true);
    nvrtc.line_info = nvrtc_before.line_info = true;
    key_name(base);
    KEY(0, strcpy(nvrtc.keep_source, "/a")); /* such a cubin has the path */
#undef KEY
}

int main(void)
{
    const struct jg_nvrtc *opened;
    struct jg_device device;

    fakes = fakes_open();
    scratch_begin();
    CHECK_INT(jg_compiler_open(0, &opened), JITGEMM_OK);
    nvrtc = *opened;
    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    jg_spec_make(&jg_model_sm90.configs[0], &device, 0, &spec);
    test_options();
    test_deadline();
    test_keep();
    test_log();
    test_key();
    scratch_end();
    fakes_close(&fakes);
    return test_end();
}
