/* SPDX-License-Identifier: MIT */
/* A key's cubin is the same bytes in every process, whatever its name, current
 * folder, TMPDIR and locale. */
#define _GNU_SOURCE /* nftw */
#include <sys/wait.h>

#include "compile.h"
#include "plan.h"
#include "scratch.h"

/* Compiles the smallest kernel and the largest into a file. */
static int compile_all(const char *path)
{
    const struct jg_nvrtc *nvrtc;
    struct jg_device device;
    FILE *file = fopen(path, "w");

    CHECK(file != NULL);
    CHECK_INT(jg_compiler_open(0, &nvrtc), JITGEMM_OK);
    CHECK_INT(jg_device_of_arch("sm_90a", &device), JITGEMM_OK);
    for (int i = 0; i < 2; i++) {
        struct jg_compiled result = {.ms = 0};
        struct jg_key key = {.blob = {.data = NULL}};
        struct jg_spec spec;

        jg_spec_make(&jg_model_sm90.configs[jg_model_sm90.count - 1], &device,
                     i, &spec);
        CHECK_INT(jg_compile_key(nvrtc, &spec, &key), JITGEMM_OK);
        CHECK_INT(jg_compile(nvrtc, &spec, &result), JITGEMM_OK);
        CHECK(fwrite(key.name, 1, sizeof key.name, file) == sizeof key.name);
        CHECK(result.cubin.size > 1000);
        /* As of precompiled headers that find no place. */
        CHECK(strstr((char *)result.log.data, "warning") == NULL);
        CHECK(fwrite(result.cubin.data, 1, result.cubin.size, file) ==
              result.cubin.size);
        jg_compiled_free(&result);
        jg_key_free(&key);
    }
    CHECK(fclose(file) == 0);
    return test_failures != 0;
}

/* In a process of another name that runs in a folder of that name. */
static pid_t start(const char *name, const char *temporary, const char *locale,
                   const char *keep)
{
    pid_t child = fork();
    char path[PATH_MAX], out[40];
    const char *folder = in_scratch(name);

    if (child != 0)
        return child;
    snprintf(out, sizeof out, "../%s.out", name);
    if (!realpath("/proc/self/exe", path) || mkdir(folder, 0755) != 0 ||
        chdir(folder) != 0)
        _exit(127);
    setenv("TMPDIR", temporary, 1);
    setenv("LC_ALL", locale, 1);
    setenv("JITGEMM_KEEP_SRC", keep, 1);
    execl(path, name, out, (char *)NULL);
    _exit(127);
}

int main(int argc, char **argv)
{
    const struct jg_nvrtc *nvrtc;
    pid_t children[2];
    void *bytes[2];
    size_t sizes[2];

    if (jg_compiler_open(0, &nvrtc) != JITGEMM_OK) {
        printf("skipped: %s\n", jitgemm_last_error()->text);
        return TEST_SKIP;
    }
    if (argc == 2)
        return compile_all(argv[1]);
    scratch_begin();
    make_folder(in_scratch("kept"), 0755);
    children[0] = start("one", scratch, "C", "");
    children[1] = start("another", "/nowhere", "C.UTF-8", in_scratch("kept"));
    for (int i = 0; i < 2; i++) {
        int status = -1;

        CHECK_INT(waitpid(children[i], &status, 0), children[i]);
        CHECK_INT(status, 0);
        bytes[i] =
            read_file(in_scratch(i ? "another.out" : "one.out"), &sizes[i]);
    }
    CHECK(sizes[0] > 2000);
    CHECK_INT(sizes[0], sizes[1]);
    CHECK(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0);
    CHECK(count_files(in_scratch("kept")) > 0);
    printf("NVRTC %d.%d: %zu bytes\n", nvrtc->major, nvrtc->minor, sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
    scratch_end();
    return test_end();
}
