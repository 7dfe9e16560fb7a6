/* SPDX-License-Identifier: MIT */
/* A product of cuBLAS and a kernel that only reads. */
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"
#include "kernels.h"
#include "peers.h"
#include "product.h"
#include "timing.h"

struct reading {
    unsigned char *in;
    unsigned *sums;
};

static bool launch_read(void *user, int set)
{
    const struct reading *reading = user;

    (void)set; /* it is larger than the L2 by far */
    kernels_read(reading->in, effort->read_bytes, reading->sums);
    return true;
}

/* Every byte is 1. */
static bool sums_are_right(const unsigned *device)
{
    size_t count = kernels_read_sums();
    unsigned *sums = calloc(count, sizeof *sums), sum = 0;

    gpu_download(sums, device, count * sizeof *sums);
    for (size_t i = 0; i < count; i++)
        sum += sums[i];
    free(sums);
    return sum == (unsigned)(effort->read_bytes / 4) * 0x01010101u;
}

static bool measure_bandwidth(double *bandwidth)
{
    size_t sums_bytes = kernels_read_sums() * sizeof(unsigned);
    struct reading reading = {gpu_alloc(effort->read_bytes),
                              gpu_alloc(sums_bytes)};
    struct times times;
    bool good;

    GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)reading.in, 1, effort->read_bytes));
    GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)reading.sums, 0, sums_bytes));
    GPU(cuCtxSynchronize());
    launch_read(&reading, 0);
    gpu_sync();
    good = sums_are_right(reading.sums) &&
           timing_measure(launch_read, &reading, 1, &times);
    if (good)
        *bandwidth = (double)effort->read_bytes / times.best * 1e-6;
    else
        fprintf(stderr, "the kernel that reads does not read all\n");
    gpu_free(reading.in);
    gpu_free(reading.sums);
    return good;
}

static bool measure_rate(jitgemm_context *context, double *rate)
{
    int64_t size = effort->square, wrong;
    double flops = 2 * (double)size * (double)size * (double)size;
    struct product product;
    struct times times;
    jitgemm_plan *plan;
    bool good = true;

    product_make(&product, 1, &size, &size, &size, REF_FULL, true, 1);
    plan = product_plan(&product, context, NULL);
    JITGEMM(jitgemm_run(plan, gpu.stream));
    gpu_sync();
    for (int i = 0; i < PEERS; i++)
        if (peer_measure(&peers[i], &product, &times, &wrong)) {
            if (wrong) {
                fprintf(stderr, "%s: a big product is wrong\n", peers[i].name);
                good = false;
            } else if (flops / times.best * 1e-6 > *rate) {
                *rate = flops / times.best * 1e-6;
            }
        }
    jitgemm_plan_destroy(plan);
    product_free(&product);
    return good;
}

bool limits_measure(jitgemm_context *context, bool with_peers,
                    struct limits *limits)
{
    *limits = (struct limits){0};
    return measure_bandwidth(&limits->bandwidth) &&
           (!with_peers || measure_rate(context, &limits->rate));
}

double limits_us(const struct limits *limits, const struct gemm_case *c)
{
    double memory = case_bytes(c) / limits->bandwidth * 1e-6;
    double math = limits->rate > 0 ? case_flops(c) / limits->rate * 1e-6 : 0;

    return math > memory ? math : memory;
}
