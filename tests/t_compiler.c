/* SPDX-License-Identifier: MIT */
/* What is said of an NVRTC that is missing, foreign, of a wrong version or
 * without its builtins; how one is told from others; which versions compile
 * for what. */
#define _GNU_SOURCE /* nftw */
#include "compiler.h"

#include <sys/wait.h>

#include "fake/fakes.h"
#include "key.h"
#include "scratch.h"

static struct fakes fakes;

/* Opening fails with a text that has these words. */
static void expect_none(int newest, const char *word, const char *other)
{
    const struct jg_nvrtc *nvrtc = NULL;
    const char *text;

    CHECK_INT(jg_compiler_open(newest, &nvrtc), JITGEMM_E_NO_NVRTC);
    text = jitgemm_last_error()->text;
    CHECK(nvrtc == NULL);
    CHECK(strstr(text, word) != NULL);
    CHECK(strstr(text, other) != NULL);
    if (!strstr(text, word) || !strstr(text, other))
        fprintf(stderr, "\"%s\" lacks %s or %s\n", text, word, other);
}

static void test_refusals(void)
{
    char *fake = strdup(getenv("JITGEMM_LIBNVRTC"));

    setenv("JITGEMM_LIBNVRTC", "/nowhere/libnvrtc.so", 1);
    expect_none(0, "no usable NVRTC; tried /nowhere/libnvrtc.so: is not there",
                "");
    setenv("JITGEMM_LIBNVRTC", "libnowhere.so", 1);
    expect_none(0, "libnowhere.so: cannot open", "");
    setenv("JITGEMM_LIBNVRTC", "libc.so.6", 1);
    expect_none(0, "libc.so.6", "has no nvrtc");
    setenv("JITGEMM_LIBNVRTC", fake, 1);
    fakes.nvrtc->major = 11;
    expect_none(0, fake, "is version 11.0; 12.0 to 13.x will do");
    fakes.nvrtc->major = 14;
    expect_none(0, fake, "is version 14.0; 12.0 to 13.x will do");
    fakes.nvrtc->major = 13;
    expect_none(12, fake, "is version 13.0; 12.0 to 12.x will do");
    /* Its builtins, which no other folder has either under this name. */
    fakes.nvrtc->minor = 99;
    expect_none(13, fakes.folder, "libnvrtc-builtins.so.13.99: cannot open");
    fakes.nvrtc->minor = 0;
    free(fake);
}

/* Every place is in the text, with its reason, in order. */
static void test_all_named(void)
{
    static const char *const words[] = {
        "; ",
        "lib/python3*/*-packages/nvidia/cu13/lib/libnvrtc.so.13: ",
        "lib/python3*/*-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12: ",
        "/home/lib64/libnvrtc.so.13: ",
        "/home/lib64/libnvrtc.so.12: ",
        "/path/lib64/libnvrtc.so.13: ",
        "/path/lib64/libnvrtc.so.12: ",
    };
    const char *at;

    setenv("JITGEMM_LIBNVRTC", in_scratch("empty"), 1);
    make_folder(in_scratch("empty"), 0755);
    expect_none(0, "empty/libnvrtc.so.13: is not there",
                "empty/libnvrtc.so.12: is not there");
    unsetenv("JITGEMM_LIBNVRTC");
    setenv("VIRTUAL_ENV", scratch, 1);
    setenv("CUDA_HOME", in_scratch("home"), 1);
    setenv("CUDA_PATH", in_scratch("path"), 1);
    /* A driver so old that whatever this machine has is refused, too. */
    expect_none(11, "tried libnvrtc.so.13: ", "libnvrtc.so.12: ");
    at = jitgemm_last_error()->text;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(at, words[i]);

        CHECK(found != NULL);
        at = found ? found : at;
    }
}

/* In a process each, since the first success stays. Exits with its number of
 * failures. */
static void in_child(void (*test)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        test_failures = 0;
        test();
        _exit(test_failures);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

static void test_folder(void)
{
    const struct jg_nvrtc *nvrtc = NULL;

    setenv("JITGEMM_LIBNVRTC", fakes.folder, 1);
    CHECK_INT(jg_compiler_open(0, &nvrtc), JITGEMM_OK);
    CHECK(strstr(nvrtc->path, "libnvrtc.so.13") != NULL);
    CHECK_INT(strlen(nvrtc->id), 40); /* SHA-1, the linker's default */
    CHECK_INT(strspn(nvrtc->id, "0123456789abcdef"), 40);
    CHECK_STR(nvrtc->builtins_id, nvrtc->id); /* the fake is both */
    CHECK(!nvrtc->any_version && !nvrtc->timeout && !nvrtc->line_info);
    CHECK_STR(nvrtc->keep_source, "");
    /* Another driver in the same process. */
    expect_none(12, nvrtc->path, "no cubins of a version after 12.x");
    CHECK_INT(jg_compiler_open(13, &nvrtc), JITGEMM_OK);
}

/* One without a build id and a flow callback, and with settings. */
static void test_old(void)
{
    const struct jg_nvrtc *nvrtc = NULL;
    char path[512], digest[JG_KEY_NAME_LENGTH + 1], id[80];
    size_t size;
    void *bytes;

    setenv("JITGEMM_LIBNVRTC", fakes.old, 1);
    setenv("JITGEMM_ANY_NVRTC", "1", 1);
    setenv("JITGEMM_COMPILE_TIMEOUT", "7", 1);
    setenv("JITGEMM_LINEINFO", "1", 1);
    setenv("JITGEMM_KEEP_SRC", "/kept", 1);
    CHECK_INT(jg_compiler_open(0, &nvrtc), JITGEMM_OK);
    CHECK(nvrtc->any_version && nvrtc->line_info);
    CHECK_INT(nvrtc->timeout, 7);
    CHECK_STR(nvrtc->keep_source, "/kept");
    CHECK(nvrtc->nvrtcSetFlowCallback == NULL);
    snprintf(path, sizeof path, "%s/libnvrtc.so.13", fakes.old);
    bytes = read_file(path, &size);
    jg_key_digest(bytes, size, digest);
    snprintf(id, sizeof id, "%zu-%s", size, digest);
    CHECK_STR(nvrtc->id, id);
    CHECK_STR(nvrtc->builtins_id, id);
    free(bytes);
}

static void test_versions(void)
{
    static const struct {
        int major, minor;
        const char *arch;
        bool good;
    } cases[] = {
        {12, 3, "sm_90a", false},  {12, 4, "sm_90a", true},
        {13, 2, "sm_90a", true},   {13, 3, "sm_120a", false},
        {12, 8, "sm_100a", false}, {12, 9, "sm_100a", true},
        {12, 8, "sm_120a", false}, {13, 0, "sm_103a", true},
        {13, 1, "sm_103a", false}, {13, 3, "sm_100a", false},
        {13, 3, "sm_121a", false}, {13, 4, "sm_121a", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct jg_nvrtc nvrtc = {.major = cases[i].major,
                                 .minor = cases[i].minor,
                                 .path = "/lib/x"};
        char version[32];

        nvrtc.any_version = true;
        CHECK_INT(jg_compiler_check(&nvrtc, cases[i].arch), JITGEMM_OK);
        nvrtc.any_version = false;
        CHECK_INT(jg_compiler_check(&nvrtc, cases[i].arch),
                  cases[i].good ? JITGEMM_OK : JITGEMM_E_NO_NVRTC);
        if (cases[i].good)
            continue;
        snprintf(version, sizeof version, "NVRTC %d.%d (/lib/x)", nvrtc.major,
                 nvrtc.minor);
        CHECK(strstr(jitgemm_last_error()->text, version) != NULL);
        CHECK(strstr(jitgemm_last_error()->text, cases[i].arch) != NULL);
        CHECK(strstr(jitgemm_last_error()->text, "ANY_NVRTC=1") != NULL);
    }
}

int main(void)
{
    fakes = fakes_open();
    scratch_begin();
    test_refusals();
    in_child(test_folder);
    in_child(test_old);
    test_versions();
    test_all_named();
    scratch_end();
    fakes_close(&fakes);
    return test_end();
}
