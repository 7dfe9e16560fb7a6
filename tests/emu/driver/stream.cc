/* SPDX-License-Identifier: MIT */
/* Streams, events, copies, launches, graphs. Work is done at once, when it is
 * enqueued; while a stream is captured it goes into a graph instead. */
#include "device.h"
#include "library.h"
#include "memory.h"
#include "../tensor_map.h"

#include <functional>
#include <set>
#include <vector>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

namespace emu_driver {

namespace {

using work = std::function<CUresult()>;
using graph = std::vector<work>;

struct stream {
    graph *captured = nullptr; /* not NULL while it is captured */
    CUstreamCaptureMode mode;
    bool invalidated; /* by a call that a capture forbids */
    const void *thread; /* that began the capture */
};

stream default_stream;
std::set<stream *> streams = {&default_stream};
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
thread_local char this_thread; /* its address tells threads apart */
uint64_t launches;             /* so far; each has a seed of its own */

stream *find_stream(CUstream handle)
{
    stream *found =
        handle ? reinterpret_cast<stream *>(handle) : &default_stream;

    if (streams.count(found))
        return found;
    refuse(CUDA_SUCCESS, "%p is no stream", static_cast<void *>(handle));
    return nullptr;
}

CUresult enqueue(CUstream handle, work todo)
{
    stream *to = find_stream(handle);

    if (!to)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!to->captured)
        return todo();
    if (to->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    to->captured->push_back(todo);
    return CUDA_SUCCESS;
}

CUresult check_range(const char *call, CUdeviceptr memory, size_t bytes)
{
    void *address = reinterpret_cast<void *>(memory);

    return is_allocated(address, bytes)
               ? CUDA_SUCCESS
               : refuse(CUDA_ERROR_INVALID_VALUE,
                        "%s: %zu bytes at %p are not allocated", call, bytes,
                        address);
}

int check_access(const void *address, size_t bytes, int)
{
    return is_allocated(address, bytes);
}

/* The parameter is copied, as a launch does. All kernels have one. */
CUresult run(const CUlaunchConfig &config, kernel *of,
             const std::vector<char> &parameter)
{
    const char *seed = getenv("JITGEMM_EMU_SEED");
    std::vector<char> copy = parameter;
    void *parameters[] = {copy.data()};
    char report[2048];
    emu_launch launch{};

    launch.grid[0] = config.gridDimX;
    launch.grid[1] = config.gridDimY;
    launch.grid[2] = config.gridDimZ;
    launch.block[0] = config.blockDimX;
    launch.block[1] = config.blockDimY;
    launch.block[2] = config.blockDimZ;
    launch.shared_bytes = config.sharedMemBytes;
    launch.registers = of->from.registers;
    launch.parameters = parameters;
    launch.seed = (seed ? strtoull(seed, nullptr, 10) : 1) * 1000003 +
                  launches++;
    launch.check = check_access;
    launch.report = report;
    launch.report_bytes = sizeof report;
    if (!of->run(&launch))
        return CUDA_SUCCESS;
    return break_context(refuse(CUDA_ERROR_LAUNCH_FAILED, "%s: %s",
                                of->from.symbol.c_str(), report));
}

CUresult check_launch(const CUlaunchConfig &config, const kernel &of)
{
    const unsigned long long threads = 1ull * config.blockDimX *
                                       config.blockDimY * config.blockDimZ;

    if (!config.gridDimX || !config.gridDimY || !config.gridDimZ || !threads ||
        threads > 1024 || config.gridDimY > 65535 || config.gridDimZ > 65535)
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "cuLaunchKernelEx: %u x %u x %u blocks of %llu threads",
                      config.gridDimX, config.gridDimY, config.gridDimZ,
                      threads);
    if (config.sharedMemBytes > of.most_shared)
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "cuLaunchKernelEx: %u bytes of shared memory, but %u "
                      "are allowed",
                      config.sharedMemBytes, of.most_shared);
    if (threads * of.from.registers > 65536)
        return refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                      "cuLaunchKernelEx: %llu threads of %u registers",
                      threads, of.from.registers);
    return CUDA_SUCCESS;
}

double now_ms()
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e3 +
           static_cast<double>(time.tv_nsec) * 1e-6;
}

} // namespace

CUresult enter_unsafe(const char *name)
{
    for (stream *stream : streams) {
        bool concerns = stream->mode == CU_STREAM_CAPTURE_MODE_GLOBAL
                            ? thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
                                  stream->thread == &this_thread
                            : stream->thread == &this_thread;

        if (!stream->captured || !concerns ||
            stream->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
            thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        stream->invalidated = true;
        return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                      "%s while a stream is captured", name);
    }
    return CUDA_SUCCESS;
}

} // namespace emu_driver

using namespace emu_driver;

CUresult cuStreamCreate(CUstream *handle, unsigned)
{
    EMU_ENTER(CURRENT_CONTEXT);
    stream *made = new stream();

    streams.insert(made);
    *handle = reinterpret_cast<CUstream>(made);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle)
{
    EMU_ENTER(INITIALIZED);
    stream *found = find_stream(handle);

    if (!found || found == &default_stream)
        return CUDA_ERROR_INVALID_HANDLE;
    streams.erase(found);
    delete found->captured;
    delete found;
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle)
{
    EMU_ENTER(INITIALIZED);
    stream *found = find_stream(handle);

    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!found->captured)
        return CUDA_SUCCESS;
    found->invalidated = true;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  "cuStreamSynchronize of a captured stream");
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    EMU_ENTER(CURRENT_CONTEXT);
    stream *found = find_stream(handle);

    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    *status = found->captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                              : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode)
{
    EMU_ENTER(CURRENT_CONTEXT);
    stream *found = find_stream(handle);

    if (!found || found == &default_stream || found->captured)
        return refuse(CUDA_ERROR_ILLEGAL_STATE,
                      "cuStreamBeginCapture: not this stream now");
    found->captured = new graph();
    found->mode = mode;
    found->invalidated = false;
    found->thread = &this_thread;
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *result)
{
    EMU_ENTER(CURRENT_CONTEXT);
    stream *found = find_stream(handle);

    if (!found || !found->captured)
        return refuse(CUDA_ERROR_ILLEGAL_STATE,
                      "cuStreamEndCapture: the stream is not captured");
    *result = reinterpret_cast<CUgraph>(found->captured);
    found->captured = nullptr;
    return found->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                              : CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    EMU_ENTER(NOTHING);
    std::swap(*mode, thread_mode);
    return CUDA_SUCCESS;
}

/* A graph that was instantiated stays as it is: the same object serves. */
CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph from,
                            unsigned long long)
{
    EMU_ENTER(CURRENT_CONTEXT);
    *exec = reinterpret_cast<CUgraphExec>(from);
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
    EMU_ENTER(CURRENT_CONTEXT);
    for (const work &todo : *reinterpret_cast<graph *>(exec))
        if (CUresult result = enqueue(handle, todo))
            return result;
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned)
{
    EMU_ENTER(CURRENT_CONTEXT);
    *event = reinterpret_cast<CUevent>(new double());
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream)
{
    EMU_ENTER(CURRENT_CONTEXT);
    *reinterpret_cast<double *>(event) = now_ms();
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent)
{
    EMU_ENTER(CURRENT_CONTEXT);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    EMU_ENTER(CURRENT_CONTEXT);
    *ms = static_cast<float>(*reinterpret_cast<double *>(end) -
                             *reinterpret_cast<double *>(start));
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream handle)
{
    EMU_ENTER(CURRENT_CONTEXT);
    if (CUresult result = check_range(__func__, to, bytes))
        return result;
    return enqueue(handle, [=] {
        memcpy(reinterpret_cast<void *>(to), from, bytes);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    EMU_ENTER_UNSAFE();
    if (CUresult result = check_range(__func__, to, bytes))
        return result;
    memcpy(reinterpret_cast<void *>(to), from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    EMU_ENTER_UNSAFE();
    if (CUresult result = check_range(__func__, from, bytes))
        return result;
    memcpy(to, reinterpret_cast<void *>(from), bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    EMU_ENTER_UNSAFE();
    if (CUresult result = check_range(__func__, to, count))
        return result;
    memset(reinterpret_cast<void *>(to), value, count);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
    EMU_ENTER_UNSAFE();
    if (CUresult result = check_range(__func__, to, 2 * count))
        return result;
    for (size_t i = 0; i < count; i++)
        reinterpret_cast<unsigned short *>(to)[i] = value;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **)
{
    EMU_ENTER(CURRENT_CONTEXT);
    kernel *of = find_kernel(function);

    if (!of)
        return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult result = check_launch(*config, *of))
        return result;
    CUlaunchConfig kept = *config;
    std::vector<char> parameter(of->from.parameter_bytes);
    memcpy(parameter.data(), parameters[0], parameter.size());
    return enqueue(config->hStream,
                   [=] { return run(kept, of, parameter); });
}

CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *extent, const cuuint64_t *stride, const cuuint32_t *box,
    const cuuint32_t *step, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
    CUtensorMapFloatOOBfill fill)
{
    EMU_ENTER(NOTHING);
    emu_tensor_map emulated{};
    const char *fault = nullptr;

    if (type != CU_TENSOR_MAP_DATA_TYPE_UINT8 || rank < 1 || rank > 5 ||
        interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
        fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
        swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "cuTensorMapEncodeTiled: type, rank, interleave, "
                      "swizzle or fill is not emulated");
    emulated.address = reinterpret_cast<uintptr_t>(address);
    emulated.rank = rank;
    emulated.element_bytes = 1;
    emulated.swizzle = swizzle ? 16u << swizzle : 0;
    for (cuuint32_t i = 0; i < rank; i++) {
        emulated.extent[i] = extent[i];
        emulated.box[i] = box[i];
        if (i > 0)
            emulated.stride[i - 1] = stride[i - 1];
        if (step[i] != 1)
            fault = "an element stride is not 1";
    }
    if (!fault)
        fault = emu_tensor_map_check(&emulated);
    if (!fault && reinterpret_cast<uintptr_t>(map) % 64)
        fault = "the map is not a multiple of 64";
    if (fault)
        return refuse(CUDA_ERROR_INVALID_VALUE, "cuTensorMapEncodeTiled: %s",
                      fault);
    emu_tensor_map_encode(&emulated, map);
    return CUDA_SUCCESS;
}
