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

/* What the kernel requires, where it does, or the attribute asks for. */
CUresult set_cluster(const CUlaunchAttributeValue *asked, launch *launch)
{
    constexpr unsigned warp = 32, most_blocks = 8; /* that is portable */
    const unsigned *required = launch->library->cluster;
    unsigned cluster[] = {1, 1, 1}, blocks = 1;

    if (required[0])
        memcpy(cluster, required, sizeof cluster);
    if (asked) {
        const auto &dim = asked->clusterDim;
        const unsigned want[] = {dim.x, dim.y, dim.z};

        if (required[0] && memcmp(want, required, sizeof want))
            return refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                          "a cluster of %u x %u x %u; the kernel requires "
                          "%u x %u x %u",
                          want[0], want[1], want[2], required[0], required[1],
                          required[2]);
        memcpy(cluster, want, sizeof cluster);
    }
    for (int i = 0; i < 3; i++) {
        if (!cluster[i] || launch->grid[i] % cluster[i])
            return refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                          "a grid %u blocks wide in clusters of %u",
                          launch->grid[i], cluster[i]);
        if (cluster[i] > most_blocks / blocks)
            return refuse(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                          "a cluster of more than %u blocks", most_blocks);
        blocks *= cluster[i];
    }
    if (blocks > 1 &&
        launch->block[0] * launch->block[1] * launch->block[2] % warp)
        return refuse(CUDA_ERROR_NOT_SUPPORTED,
                      "a cluster of blocks that are not of whole warps is "
                      "not emulated");
    memcpy(launch->cluster, cluster, sizeof cluster);
    return CUDA_SUCCESS;
}

/* Other attributes would be ignored by who does not know them. */
CUresult read_attributes(const CUlaunchConfig &config, launch *launch)
{
    const CUlaunchAttributeValue *cluster = nullptr;

    for (unsigned i = 0; i < config.numAttrs; i++) {
        const CUlaunchAttribute &attribute = config.attrs[i];

        if (attribute.id == CU_LAUNCH_ATTRIBUTE_IGNORE)
            continue;
        if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            cluster = &attribute.value;
            continue;
        }
        if (attribute.id !=
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return refuse(CUDA_ERROR_NOT_SUPPORTED,
                          "launch attribute %d is not emulated",
                          static_cast<int>(attribute.id));
        launch->overlap =
            attribute.value.programmaticStreamSerializationAllowed != 0;
    }
    return set_cluster(cluster, launch);
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
                 {},
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
