/* SPDX-License-Identifier: MIT */
/* cuLibrary*: from a cubin to the same kernel compiled for the host. What was
 * compiled is kept in JITGEMM_EMU_CACHE, in a folder named by a hash of all
 * that shaped it. */
#include "library.h"
#include "../compile.h"
#include "device.h"

#include <map>
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

namespace {

constexpr int most_shared = 232448; /* 227 KiB: sm_90, sm_100 */

std::map<const void *, std::unique_ptr<kernel>> kernels;

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
    std::string compiler = setting("CXX", "c++");
    XXH3_128bits_update(hash.get(), compiler.c_str(), compiler.size() + 1);
    add_folder(hash.get(), source + "/kernel_src");
    add_file(hash.get(), source + "/tests/emu/emu.h");
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

emu_test::run_function find_run(const std::string &folder,
                                const std::string &symbol)
{
    void *library = dlopen((folder + "/kernel.so").c_str(),
                           RTLD_NOW | RTLD_LOCAL);

    return library ? reinterpret_cast<emu_test::run_function>(
                         dlsym(library, ("emu_run_" + symbol).c_str()))
                   : nullptr;
}

/* Compiles in a folder of its own, then gives it its name. */
emu_test::run_function build(const cubin &from)
{
    std::string source = setting("JG_SRCDIR", ".");
    std::string folder = folder_of(from, source);
    emu_test::run_function run = find_run(folder, from.symbol);

    if (run)
        return run;
    emu_test::compile_job job = {
        folder + "." + std::to_string(getpid()), source + "/kernel_src",
        from.program, from.symbol,
        "#pragma once\nnamespace spec {\n" + from.spec + "}\n"};
    run = emu_test::compile_finish(job, emu_test::compile_start(job));
    if (run)
        rename(job.folder.c_str(), folder.c_str());
    return run;
}

} // namespace

kernel *find_kernel(const void *handle)
{
    auto found = kernels.find(handle);

    if (found != kernels.end())
        return found->second.get();
    refuse(CUDA_SUCCESS, "%p is no kernel of a loaded library", handle);
    return nullptr;
}

} // namespace emu_driver

using namespace emu_driver;

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
                           CUjit_option *, void **, unsigned,
                           CUlibraryOption *, void **, unsigned)
{
    EMU_ENTER_UNSAFE();
    auto made = std::make_unique<kernel>();
    const char *fault = read_cubin(code, &made->from);
    int major = 0;

    if (fault)
        return refuse(CUDA_ERROR_INVALID_IMAGE, "cuLibraryLoadData: %s",
                      fault);
    cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                         0);
    if (made->from.sm / 10 != major)
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "cuLibraryLoadData: a cubin for sm_%d", made->from.sm);
    made->run = build(made->from);
    if (!made->run)
        return refuse(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, /* not the image */
                      "cuLibraryLoadData: %s does not compile for the host",
                      made->from.program.c_str());
    *library = reinterpret_cast<CUlibrary>(made.get());
    kernels[made.get()] = std::move(made);
    return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library)
{
    EMU_ENTER(INITIALIZED);
    return kernels.erase(library) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuLibraryGetKernel(CUkernel *handle, CUlibrary library,
                            const char *name)
{
    EMU_ENTER(INITIALIZED);
    kernel *found = find_kernel(library);

    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (found->from.symbol != name)
        return CUDA_ERROR_NOT_FOUND;
    *handle = reinterpret_cast<CUkernel>(found);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel handle)
{
    EMU_ENTER(CURRENT_CONTEXT);
    if (!find_kernel(handle))
        return CUDA_ERROR_INVALID_HANDLE;
    *function = reinterpret_cast<CUfunction>(handle);
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function,
                            CUfunction_attribute attribute, int value)
{
    EMU_ENTER(CURRENT_CONTEXT);
    kernel *found = find_kernel(function);

    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
        value < 0 || value > most_shared)
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "cuFuncSetAttribute: attribute %d of %d",
                      static_cast<int>(attribute), value);
    found->most_shared = static_cast<unsigned>(value);
    return CUDA_SUCCESS;
}
