/* SPDX-License-Identifier: MIT */
/* Whether a kernel can be launched so; it runs later. */
#include "call.h"
#include "launch.h"
#include "queue.h"

#include <string.h>

using namespace emu_driver;

namespace {

/* Bounds of every device since compute capability 3.0; then the kernel's. */
CUresult check_sizes(const CUlaunchConfig &config, const CUlib_st &library)
{
    constexpr unsigned most_registers = 65536; /* of a block */
    const unsigned grid[] = {config.gridDimX, config.gridDimY,
                             config.gridDimZ};
    const unsigned block[] = {config.blockDimX, config.blockDimY,
                              config.blockDimZ};
    const unsigned most_blocks[] = {0x7fffffff, 65535, 65535};
    const unsigned most_block[] = {1024, 1024, 64};
    unsigned long long threads = 1;

    for (int i = 0; i < 3; i++) {
        if (!grid[i] || grid[i] > most_blocks[i])
            return refuse(CUDA_ERROR_INVALID_VALUE, "grid of %u x %u x %u",
                          grid[0], grid[1], grid[2]);
        if (!block[i] || block[i] > most_block[i])
            return refuse(CUDA_ERROR_INVALID_VALUE, "block of %u x %u x %u",
                          block[0], block[1], block[2]);
        threads *= block[i];
    }
    if (threads > library.threads)
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "%llu threads a block; this kernel takes %u at most",
                      threads, library.threads);
    if (threads * library.registers > most_registers)
        return refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                      "%llu threads of %u registers", threads,
                      library.registers);
    return CUDA_SUCCESS;
}

/* Other attributes would be ignored by who does not know them. */
CUresult read_attributes(const CUlaunchConfig &config, launch *launch)
{
    for (unsigned i = 0; i < config.numAttrs; i++) {
        const CUlaunchAttribute &attribute = config.attrs[i];

        if (attribute.id == CU_LAUNCH_ATTRIBUTE_IGNORE)
            continue;
        if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            return refuse(CUDA_ERROR_NOT_SUPPORTED,
                          "clusters are not emulated");
        if (attribute.id !=
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return refuse(CUDA_ERROR_NOT_SUPPORTED,
                          "launch attribute %d is not emulated",
                          static_cast<int>(attribute.id));
        launch->overlap =
            attribute.value.programmaticStreamSerializationAllowed != 0;
    }
    return CUDA_SUCCESS;
}

CUresult check(const CUlaunchConfig &config, CUfunction function)
{
    if (!is_alive(function))
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%p is no function",
                      static_cast<void *>(function));
    if (function->context != current_context())
        return refuse(CUDA_ERROR_INVALID_HANDLE,
                      "the function is of another context");
    if (config.sharedMemBytes > function->shared_most)
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "%u bytes of shared memory; the function may have %zu",
                      config.sharedMemBytes, function->shared_most);
    return check_sizes(config, *function->library);
}

/* All kernels have one. */
CUresult copy_parameter(CUlibrary library, void **parameters, launch *launch)
{
    constexpr size_t unit = sizeof(launch::parameter);

    if (!parameters || !parameters[0])
        return refuse(CUDA_ERROR_INVALID_VALUE, "the parameter is missing");
    launch->parameter.resize((library->parameter_bytes + unit - 1) / unit);
    memcpy(launch->parameter.data(), parameters[0], library->parameter_bytes);
    return CUDA_SUCCESS;
}

} // namespace

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra)
{
    return call(__func__, in_context | takes_memory, [&] {
        auto made = std::make_shared<launch>();
        CUstream stream;
        CUresult result = find_own_stream(config->hStream, &stream);

        if (result == CUDA_SUCCESS && extra)
            return refuse(CUDA_ERROR_NOT_SUPPORTED, "extra is not emulated");
        if (result == CUDA_SUCCESS)
            result = check(*config, function);
        if (result != CUDA_SUCCESS)
            return result;
        emu_knobs.lazy += !function->loaded;
        function->loaded = true;
        *made = {function->library,
                 {config->gridDimX, config->gridDimY, config->gridDimZ},
                 {config->blockDimX, config->blockDimY, config->blockDimZ},
                 config->sharedMemBytes,
                 false,
                 {}};
        result = read_attributes(*config, made.get());
        if (result == CUDA_SUCCESS)
            result = copy_parameter(function->library, parameters, made.get());
        if (result != CUDA_SUCCESS)
            return result;
        return submit(stream, {function->library->symbol.c_str(), made, {}});
    });
}
