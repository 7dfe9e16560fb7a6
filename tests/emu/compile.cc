/* SPDX-License-Identifier: MIT */
/* Set by the test environment: CXX, EMU_LDFLAGS, JG_SRCDIR, JG_BUILDDIR. */
#include "compile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace emu_test {

namespace {

std::string setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value && *value ? value : otherwise;
}

void make_folders(const std::string &path)
{
    for (size_t i = path.find('/', 1); i != path.npos;
         i = path.find('/', i + 1))
        mkdir(path.substr(0, i).c_str(), 0777);
    mkdir(path.c_str(), 0777);
}

bool write_file(const std::string &path, const std::string &text)
{
    FILE *file = fopen(path.c_str(), "w");
    bool written =
        file && fwrite(text.data(), 1, text.size(), file) == text.size();

    if (file)
        written = !fclose(file) && written;
    return written;
}

/* A kernel sees its spec.cuh, then the shadows, then the real texts. The
 * thread sanitizer's calls go to emu/access.cc; its library is not linked. Nor
 * are libemu.a's symbols for debuggers: they take most of a link's time. */
std::string command(const compile_job &job)
{
    std::string emu = setting("JG_SRCDIR", ".") + "/tests/emu";
    std::string compiler = setting("CXX", "c++");
    std::string base = job.folder + "/kernel";

    return compiler + " -std=c++17 " + job.optimize +
           " -fPIC -fvisibility=hidden -fsanitize=thread -w"
           " -Wno-psabi -ffp-contract=off -c"
           " -I'" +
           job.folder + "' -I'" + emu + "' -I'" + job.texts + "' -o '" + base +
           ".o' '" + base + ".cc' && " + compiler + " " +
           setting("EMU_LDFLAGS", "") + " -shared -Wl,-S -o '" + base +
           ".so' '" + base + ".o' '" + setting("JG_BUILDDIR", ".") +
           "/tests/emu/libemu.a'";
}

} // namespace

int compile_start(const compile_job &job)
{
    make_folders(job.folder);
    if (!write_file(job.folder + "/spec.cuh", job.spec) ||
        !write_file(job.folder + "/kernel.cc",
                    "#include <emu.h>\n#include <" + job.program +
                        ">\nEMU_KERNEL(" + job.symbol + ")\n")) {
        fprintf(stderr, "cannot write to %s\n", job.folder.c_str());
        return -1;
    }
    unlink((job.folder + "/kernel.so").c_str());
    pid_t process = fork();
    if (process == 0) {
        execl("/bin/sh", "sh", "-c", command(job).c_str(),
              static_cast<char *>(nullptr));
        _exit(127);
    }
    return process;
}

run_function compile_finish(const compile_job &job, int process)
{
    int status;

    if (process < 0 || waitpid(process, &status, 0) != process || status) {
        fprintf(stderr, "%s does not compile: %s\n", job.program.c_str(),
                command(job).c_str());
        return nullptr;
    }
    void *object =
        dlopen((job.folder + "/kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    void *function =
        object ? dlsym(object, ("emu_run_" + job.symbol).c_str()) : nullptr;
    if (!function)
        fprintf(stderr, "%s\n", dlerror());
    return reinterpret_cast<run_function>(function);
}

} // namespace emu_test
