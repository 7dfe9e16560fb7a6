/* SPDX-License-Identifier: MIT */
/* The places of NVRTC: which, and in what order. A copy of this program that
 * is called python looks beside itself. */
#define _GNU_SOURCE /* nftw */
#include "compiler_places.h"

#include <config.h>
#include <sys/wait.h>

#include "scratch.h"

#define USUAL "/usr/local/cuda/lib64"

/* What the library was configured with comes last: not said if it is not the
 * usual folder. */
static bool configured(const char *place)
{
    return *JG_NVRTC_DIR && strcmp(JG_NVRTC_DIR, USUAL) != 0 &&
           strncmp(place, JG_NVRTC_DIR, strlen(JG_NVRTC_DIR)) == 0;
}

/* The places are exactly those, in order, a line each; @ is the scratch
 * folder. */
static void expect(const struct jg_env *env, const char *want)
{
    struct jg_buf list = {0}, text = {0};
    size_t length = strlen(scratch);

    jg_compiler_places(env, &list);
    for (const char *at = (char *)list.data;
         at < (char *)list.data + list.size; at += strlen(at) + 1) {
        bool here = strncmp(at, scratch, length) == 0;

        if (!configured(at))
            jg_buf_printf(&text, "%s%s\n", here ? "@" : "",
                          at + (here ? length : 0));
    }
    CHECK_STR((char *)text.data, want);
    jg_buf_free(&list);
    jg_buf_free(&text);
}

#define LOADER "libnvrtc.so.13\nlibnvrtc.so.12\n"
#define TOOLKIT(folder)                                                       \
    folder "/lib64/libnvrtc.so.13\n" folder "/lib64/libnvrtc.so.12\n"
#define NO_13 "@/lib/python3*/*-packages/nvidia/cu13/lib/libnvrtc.so.13\n"
#define NO_12                                                                 \
    "@/lib/python3*/*-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12\n"

static void make_packages(const char *path)
{
    char name[400];

    for (size_t i = 0; i <= strlen(path); i++) {
        snprintf(name, sizeof name, "%.*s", (int)i, path);
        if (i && (path[i] == '/' || !path[i]))
            mkdir(in_scratch(name), 0755);
    }
    snprintf(name, sizeof name, "%s/libnvrtc.so.1%c", path,
             strstr(path, "cu13") ? '3' : '2');
    write_file(in_scratch(name), "", 0, 0644);
}

static void test_python(void)
{
    const char *copy = in_scratch("bin/python3.11");
    size_t size;
    void *program = read_file("/proc/self/exe", &size);
    int status = -1;
    pid_t child;

    make_folder(in_scratch("bin"), 0755);
    write_file(copy, program, size, 0755);
    free(program);
    child = fork();
    if (child == 0) {
        execl(copy, copy, scratch, (char *)NULL);
        _exit(127);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

int main(int argc, char **argv)
{
    struct jg_env env = {.untrusted = false};

    if (argc == 2) { /* the copy */
        snprintf(scratch, sizeof scratch, "%s", argv[1]);
        expect(&env, LOADER NO_13 NO_12 TOOLKIT("/usr/local/cuda"));
        env.untrusted = true;
        expect(&env, LOADER TOOLKIT("/usr/local/cuda"));
        _exit(test_failures != 0);
    }
    scratch_begin();
    env.libnvrtc = "some/file";
    env.cuda_home = scratch;
    expect(&env, "some/file\n");
    env.libnvrtc = scratch; /* a folder */
    expect(&env, "@/libnvrtc.so.13\n@/libnvrtc.so.12\n");
    env.libnvrtc = NULL;
    env.cuda_path = "/cuda";
    env.virtual_env = scratch;
    test_python();
    expect(&env, LOADER NO_13 NO_12 TOOLKIT("@") TOOLKIT("/cuda")
                     TOOLKIT("/usr/local/cuda"));
    make_packages("lib/python3/dist-packages/nvidia/cuda_nvrtc/lib");
    make_packages("lib/python3.9/site-packages/nvidia/cu13/lib");
    make_packages("lib/python3.12/site-packages/nvidia/cu13/lib");
    env.cuda_path = scratch; /* once */
    expect(&env, LOADER
           "@/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13\n"
           "@/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13\n"
           "@/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/"
           "libnvrtc.so.12\n" TOOLKIT("@") TOOLKIT("/usr/local/cuda"));
    scratch_end();
    return test_end();
}
