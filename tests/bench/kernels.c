/* SPDX-License-Identifier: MIT */
/* Compiles and launches them. */
#include "kernels.h"

#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "kernels/job.h"
#include "nvrtc_kernel.h"

/* A multiprocessor needs 2048 threads to read as fast as it can. */
enum { BLOCKS_A_SM = 4, SCALES = 256, CODES = 16 };

/* Made by kernel_src/embed.sh of the folder kernels. */
extern const struct jg_kernel_text bench_texts[];
extern const size_t bench_texts_count;

static CUfunction read_function, widen_function;
static long long most_blocks;
static void *tables[2]; /* by type: what a code is worth under each scale */

static int attribute(CUdevice_attribute which)
{
    int value = 0;

    gpu_check(nvrtc_kernel_cuda->cuDeviceGetAttribute(&value, which, 0),
              "cuDeviceGetAttribute");
    return value;
}

static void *make_table(enum ref_type type)
{
    uint16_t table[SCALES * CODES];

    for (unsigned i = 0; i < SCALES * CODES; i++) {
        double value = ref_e4m3(i / CODES) * ref_e2m1(i % CODES);
        float wide = (float)value;
        uint32_t bits;

        memcpy(&bits, &wide, sizeof bits);
        table[i] = type == REF_F16 ? ref_f16(value) : (uint16_t)(bits >> 16);
    }
    return gpu_upload(table, sizeof table);
}

static CUfunction load(const char *program, const char *symbol)
{
    char arch[16];

    snprintf(arch, sizeof arch, "sm_%d%d",
             attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
             attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    return nvrtc_kernel_load(bench_texts, bench_texts_count, program, symbol,
                             arch);
}

bool kernels_open(void)
{
    if (!nvrtc_kernel_open())
        return false;
    read_function = load("tests/bench/kernels/read.cu", "bench_read");
    widen_function = load("tests/bench/kernels/widen.cu", "bench_widen");
    most_blocks =
        BLOCKS_A_SM * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    tables[REF_F16] = make_table(REF_F16);
    tables[REF_BF16] = make_table(REF_BF16);
    return true;
}

static void launch(CUfunction function, struct bench_job *job)
{
    long long blocks = (job->count + BENCH_THREADS - 1) / BENCH_THREADS;
    CUlaunchConfig config = {
        .gridDimX = (unsigned)(blocks < most_blocks ? blocks : most_blocks),
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = BENCH_THREADS,
        .blockDimY = 1,
        .blockDimZ = 1,
        .hStream = gpu.stream};
    void *parameters[] = {job};

    gpu_check(nvrtc_kernel_cuda->cuLaunchKernelEx(&config, function,
                                                  parameters, NULL),
              "cuLaunchKernelEx");
}

void kernels_read(const void *in, size_t bytes, unsigned *sums)
{
    launch(read_function, &(struct bench_job){.in = in,
                                              .out = sums,
                                              .count = (long long)bytes / 16});
}

size_t kernels_read_sums(void)
{
    return (size_t)most_blocks * BENCH_THREADS;
}

void kernels_widen(enum ref_type type, const void *values, const void *scales,
                   int64_t rows, int64_t k, void *out)
{
    launch(widen_function, &(struct bench_job){.in = values,
                                               .scales = scales,
                                               .table = tables[type],
                                               .out = out,
                                               .count = rows * k / 2,
                                               .k = k});
}
