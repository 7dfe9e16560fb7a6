/* SPDX-License-Identifier: MIT */
/* A job on the GPU. */
#include <stdlib.h>

#include "both.h"
#include "compiled.h"
#include "gpu.h"
#include "nvrtc_kernel.h"

static CUresult encode(const struct emu_tensor_map *t, uint64_t base,
                       CUtensorMap *map)
{
    cuuint64_t extent[EMU_TENSOR_RANKS], stride[EMU_TENSOR_RANKS] = {0};
    cuuint32_t step[EMU_TENSOR_RANKS];
    CUtensorMapDataType type =
        t->element_bytes == 8   ? CU_TENSOR_MAP_DATA_TYPE_INT64
        : t->element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_INT32
        : t->element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                : CU_TENSOR_MAP_DATA_TYPE_UINT8;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;

    if (t->swizzle == 32)
        swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    if (t->swizzle == 64)
        swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
    if (t->swizzle == 128)
        swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    for (uint32_t i = 0; i < t->rank; i++) {
        extent[i] = t->extent[i];
        step[i] = 1;
        if (i > 0)
            stride[i - 1] = t->stride[i - 1];
    }
    return nvrtc_kernel_cuda->cuTensorMapEncodeTiled(
        map, type, t->rank, (void *)(uintptr_t)(base + t->address), extent,
        stride, t->box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* Always at the same place, so that old maps must be forgotten. */
static const unsigned char *gpu_maps(const struct both_case *c, void *in)
{
    enum { MOST = 1024 };
    static void *memory;
    CUtensorMap *maps = both_allocate(MOST * sizeof *maps);

    if (!memory)
        memory = gpu_alloc(MOST * sizeof *maps);
    if (c->maps_count > MOST)
        exit(99);
    for (size_t i = 0; i < c->maps_count; i++)
        gpu_check(encode(&c->maps[i], (uintptr_t)in, &maps[i]),
                  "cuTensorMapEncodeTiled");
    if (c->maps_count)
        GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)memory, maps,
                         c->maps_count * sizeof *maps));
    GPU(cuStreamSynchronize(NULL)); /* a pageable copy may land later */
    free(maps);
    return memory;
}

static void gpu_launch(const struct both_case *c, const char *program,
                       struct wrapper_job *job, bool dependent)
{
    CUlaunchAttribute attributes[2] = {{0}};
    unsigned count = 0;
    CUlaunchConfig config = {.gridDimX = c->blocks,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = c->threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = c->shared_bytes,
                             .hStream = gpu.stream,
                             .attrs = attributes};
    void *parameters[] = {job};

    if (dependent)
        attributes[count++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            .value.programmaticStreamSerializationAllowed = 1};
    if (c->cluster)
        attributes[count++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            .value.clusterDim = {c->cluster, 1, 1}};
    config.numAttrs = count;
    gpu_check(nvrtc_kernel_cuda->cuLaunchKernelEx(
                  &config, compiled_function(program), parameters, NULL),
              c->name);
}

void *both_gpu(const struct both_case *c)
{
    unsigned char *out = both_fresh_out(c);
    struct wrapper_job job = {.count = c->count, .what = c->what};
    void *in = gpu_upload(c->in, c->in_bytes);

    job.in = in;
    job.out = gpu_upload(out, c->out_bytes);
    job.maps = gpu_maps(c, in);
    compiled_function(c->program); /* before the launches */
    if (c->before)
        gpu_launch(c, c->before, &job, false);
    gpu_launch(c, c->program, &job, c->before != NULL);
    gpu_check(gpu.cuStreamSynchronize(gpu.stream), c->name);
    gpu_download(out, job.out, c->out_bytes);
    gpu_free(in);
    gpu_free(job.out);
    return out;
}
