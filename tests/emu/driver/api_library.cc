/* SPDX-License-Identifier: MIT */
/* Images to kernels to functions of a context. */
#include "call.h"
#include "chips.h"
#include "kernel_build.h"
#include "queue.h"

using namespace emu_driver;

namespace {

CUlibrary make_library(const cubin &cubin, emu_test::run_function run)
{
    CUlibrary library = create<CUlib_st>();
    CUkernel kernel = create<CUkern_st>();

    library->symbol = cubin.symbol;
    library->registers = cubin.registers;
    library->threads = cubin.threads;
    for (int i = 0; i < 3; i++)
        library->cluster[i] = cubin.cluster[i];
    library->run = run;
    library->parameter_bytes = cubin.parameter_bytes;
    library->kernel = kernel;
    kernel->library = library;
    emu_knobs.libraries++;
    return library;
}

template <class T> CUresult check_handle(T *handle, const char *what)
{
    if (is_alive(handle))
        return CUDA_SUCCESS;
    return refuse(CUDA_ERROR_INVALID_HANDLE, "%p is no %s",
                  static_cast<void *>(handle), what);
}

CUresult check_own(CUfunction function)
{
    CUresult result = check_handle(function, "function");

    if (result == CUDA_SUCCESS && function->context != current_context())
        return refuse(CUDA_ERROR_INVALID_HANDLE,
                      "the function is of another context");
    if (result == CUDA_SUCCESS)
        function->loaded = true;
    return result;
}

CUresult load(CUlibrary *library, const void *code)
{
    cubin cubin;

    if (const char *fault = read_cubin(code, &cubin))
        return refuse(CUDA_ERROR_INVALID_IMAGE, "%s", fault);
    /* Those with instructions of one chip, as all are, run on no other. */
    if (cubin.sm != this_chip()->major * 10 + this_chip()->minor)
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "a cubin for sm_%d, on an %s", cubin.sm,
                      this_chip()->name);
    emu_test::run_function run = build_kernel(cubin);
    if (!run) /* the image is not to blame */
        return refuse(CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
                      "%s does not compile for the host",
                      cubin.program.c_str());
    *library = make_library(cubin, run);
    return CUDA_SUCCESS;
}

} // namespace

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
                           CUjit_option *, void **, unsigned jit_options,
                           CUlibraryOption *, void **,
                           unsigned library_options)
{
    return call(__func__, initialized | capture_unsafe | takes_memory, [&] {
        if (jit_options || library_options)
            return refuse(CUDA_ERROR_NOT_SUPPORTED,
                          "options are not emulated");
        return load(library, code);
    });
}

/* Waits for launches of the library's kernels. */
CUresult cuLibraryUnload(CUlibrary library)
{
    return call(__func__, initialized | capture_unsafe, [&] {
        CUresult result = check_handle(library, "library");

        if (result != CUDA_SUCCESS)
            return result;
        for (auto &of : library->kernel->functions) {
            wait_for_context(of.first);
            of.second->alive = false;
        }
        library->kernel->alive = false;
        library->alive = false;
        emu_knobs.libraries--;
        return CUDA_SUCCESS;
    });
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
                            const char *name)
{
    return call(__func__, initialized, [&] {
        CUresult result = check_handle(library, "library");

        if (result != CUDA_SUCCESS)
            return result;
        if (library->symbol != name)
            return refuse(CUDA_ERROR_NOT_FOUND,
                          "the library has %s, but no %s",
                          library->symbol.c_str(), name);
        *kernel = library->kernel;
        return CUDA_SUCCESS;
    });
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    return call(__func__, in_context | takes_memory, [&] {
        CUresult result = check_handle(kernel, "kernel");

        if (result != CUDA_SUCCESS)
            return result;
        CUfunction &own = kernel->functions[current_context()];
        if (!own) {
            own = create<CUfunc_st>();
            own->library = kernel->library;
            own->context = current_context();
        }
        *function = own;
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which,
                            int value)
{
    return call(__func__, in_context, [&] {
        CUresult result = check_own(function);

        if (result != CUDA_SUCCESS)
            return result;
        if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
            return refuse(CUDA_ERROR_INVALID_VALUE,
                          "attribute %d is not emulated",
                          static_cast<int>(which));
        if (value < 0 || value > this_chip()->shared_block)
            return refuse(CUDA_ERROR_INVALID_VALUE,
                          "%d bytes of shared memory; a block can have %d",
                          value, this_chip()->shared_block);
        function->shared_most = static_cast<size_t>(value);
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which,
                            CUfunction function)
{
    return call(__func__, in_context, [&] {
        CUresult result = check_own(function);

        if (result != CUDA_SUCCESS)
            return result;
        switch (which) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = static_cast<int>(function->library->threads);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            *value = static_cast<int>(function->library->registers);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            *value = static_cast<int>(function->shared_most);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
            *value = static_cast<int>(
                function->library
                    ->cluster[which -
                              CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
            return CUDA_SUCCESS;
        default:
            return refuse(CUDA_ERROR_INVALID_VALUE,
                          "attribute %d is not emulated",
                          static_cast<int>(which));
        }
    });
}
