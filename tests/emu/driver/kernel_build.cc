/* SPDX-License-Identifier: MIT */
/* What was compiled is kept in JITGEMM_EMU_CACHE, in a folder named by a hash
 * of all that shaped it. */
#include "kernel_build.h"

#include <memory>
#include <string>

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace emu_driver {

using emu_test::run_function;

namespace {

std::string setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value && *value ? value : otherwise;
}

void add_file(XXH3_state_t *hash, const std::string &path)
{
    char bytes[65536];
    FILE *file = fopen(path.c_str(), "r");

    XXH3_128bits_update(hash, path.c_str(), path.size() + 1);
    for (size_t size; file && (size = fread(bytes, 1, sizeof bytes, file));)
        XXH3_128bits_update(hash, bytes, size);
    if (file)
        fclose(file);
}

/* Every file of the folders below, in the order of their names. */
void add_folder(XXH3_state_t *hash, const std::string &path)
{
    struct dirent **entries;
    int count = scandir(path.c_str(), &entries, nullptr, alphasort);

    for (int i = 0; i < count; i++) {
        std::string below = path + "/" + entries[i]->d_name;

        if (entries[i]->d_type == DT_DIR && entries[i]->d_name[0] != '.')
            add_folder(hash, below);
        else if (entries[i]->d_type == DT_REG)
            add_file(hash, below);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

std::string folder_of(const cubin &from, const std::string &source)
{
    std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t *)> hash(
        XXH3_createState(), XXH3_freeState);
    char name[33];

    XXH3_128bits_reset(hash.get());
    XXH3_128bits_update(hash.get(), from.spec.c_str(), from.spec.size() + 1);
    XXH3_128bits_update(hash.get(), from.program.c_str(),
                        from.program.size() + 1);
    std::string compiler =
        setting("CXX", "c++") + " " + setting("JITGEMM_EMU_OPTIMIZE", "");
    XXH3_128bits_update(hash.get(), compiler.c_str(), compiler.size() + 1);
    add_folder(hash.get(), source + "/kernel_src");
    /* Those of tests and benchmark are elsewhere, with what they include. */
    add_folder(hash.get(),
               source + "/kernel_src/" +
                   from.program.substr(0, from.program.rfind('/')));
    add_file(hash.get(), source + "/tests/emu/emu.h");
    add_file(hash.get(), source + "/tests/emu/emu_launch.h");
    add_file(hash.get(), source + "/tests/emu/instructions.h");
    add_file(hash.get(), source + "/tests/emu/compile.cc"); /* has the flags */
    add_folder(hash.get(), source + "/tests/emu/ptx");
    add_file(hash.get(), setting("JG_BUILDDIR", ".") + "/tests/emu/libemu.a");
    XXH128_hash_t sum = XXH3_128bits_digest(hash.get());
    snprintf(name, sizeof name, "%016llx%016llx",
             static_cast<unsigned long long>(sum.high64),
             static_cast<unsigned long long>(sum.low64));
    return setting("JITGEMM_EMU_CACHE", "tests/emu_work/driver") + "/" + name;
}

run_function find_run(const std::string &folder, const std::string &symbol)
{
    void *library =
        dlopen((folder + "/kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);

    return library ? reinterpret_cast<run_function>(
                         dlsym(library, ("emu_run_" + symbol).c_str()))
                   : nullptr;
}

} // namespace

/* Compiles in a folder of its own, then gives it its name. */
run_function build_kernel(const cubin &from)
{
    std::string source = setting("JG_SRCDIR", ".");
    std::string folder = folder_of(from, source);
    run_function run = find_run(folder, from.symbol);

    if (run)
        return run;
    emu_test::compile_job job = {
        folder + "." + std::to_string(getpid()), source + "/kernel_src",
        from.program, from.symbol,
        "#pragma once\nnamespace spec {\n" + from.spec + "}\n"};
    std::string optimize = setting("JITGEMM_EMU_OPTIMIZE", job.optimize);
    job.optimize = optimize.c_str();
    run = emu_test::compile_finish(job, emu_test::compile_start(job));
    if (run)
        rename(job.folder.c_str(), folder.c_str());
    return run;
}

} // namespace emu_driver
