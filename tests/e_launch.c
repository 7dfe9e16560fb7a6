/* SPDX-License-Identifier: MIT */
/* Launches on the emulated driver: what is refused, what a kernel's fault
 * becomes, and a kernel that starts before another has ended. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdlib.h>

#include "emu_calls.h"
#include "launch.h"
#include "product.h"

static const int64_t m = 8, n = 128, k = 256;

/* A plan of two kernels in a CUDA context of its own. */
struct setup {
    CUcontext cuda;
    jitgemm_context *context;
    jitgemm_plan *plan;
    struct product product;
};
enum { ACTIVATIONS, PRODUCT };

static struct setup set_up(void)
{
    jitgemm_context_options options = {.size = sizeof options,
                                       .device = JITGEMM_CURRENT_CONTEXT};
    struct setup s = {.cuda = emu_begin()};

    JITGEMM(jitgemm_context_create(&options, &s.context));
    product_make(&s.product, 1, &m, &n, &k, REF_FULL, false, 1);
    s.plan = product_plan(&s.product, s.context, &jg_model_sm90.configs[1]);
    CHECK_INT(s.plan->kernels, 2);
    return s;
}

/* Not of the product, since its memory may be broken. */
static void tear_down(struct setup *s)
{
    jitgemm_plan_destroy(s->plan);
    jitgemm_context_destroy(s->context);
    emu_end(s->cuda);
}

static CUlaunchConfig config_of(const struct setup *s, int kernel)
{
    return (CUlaunchConfig){.gridDimX = 1,
                            .gridDimY = 1,
                            .gridDimZ = 1,
                            .blockDimX = s->plan->launches[kernel].threads,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .sharedMemBytes =
                                s->plan->launches[kernel].shared_bytes};
}

static CUresult launch(const struct setup *s, int kernel,
                       const CUlaunchConfig *config)
{
    struct jg_table table = s->plan->table;
    void *parameters[] = {&table};
    CUresult result = emu.cuLaunchKernelEx(
        config, s->plan->launches[kernel].function, parameters, NULL);

    memset(&table, 0xff, sizeof table); /* the launch has a copy */
    return result;
}

/* ---- Refused ----------------------------------------------------------- */

#define CHECK_LAUNCH(field, value, result, word)                              \
    do {                                                                      \
        CUlaunchConfig config_ = config_of(s, PRODUCT);                       \
        config_.field = value;                                                \
        CHECK_REFUSED(launch(s, PRODUCT, &config_), result, word);            \
    } while (0)

static void test_sizes(const struct setup *s)
{
    const CUresult bad = CUDA_ERROR_INVALID_VALUE;

    CHECK_LAUNCH(gridDimX, 0, bad, "grid");
    CHECK_LAUNCH(gridDimX, 0x80000000, bad, "grid");
    CHECK_LAUNCH(gridDimY, 65536, bad, "grid");
    CHECK_LAUNCH(gridDimZ, 65536, bad, "grid");
    CHECK_LAUNCH(blockDimX, 0, bad, "block");
    CHECK_LAUNCH(blockDimX, 1025, bad, "block");
    CHECK_LAUNCH(blockDimY, 3, bad, "takes 384 at most");
    CHECK_LAUNCH(blockDimZ, 65, bad, "block");
    CHECK_LAUNCH(sharedMemBytes, s->plan->launches[PRODUCT].shared_bytes + 1,
                 bad, "shared memory");
    CHECK_LAUNCH(hStream, (CUstream)s, CUDA_ERROR_INVALID_HANDLE, "stream");
}

static void test_attributes(const struct setup *s)
{
    CUlaunchConfig config = config_of(s, PRODUCT);
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                   .value.cooperative = 1};
    CUfunction function = s->plan->launches[PRODUCT].function;
    int value;

    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK_REFUSED(launch(s, PRODUCT, &config), CUDA_ERROR_NOT_SUPPORTED,
                  "attribute 2");
    EMU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                           function));
    CHECK_INT(value, 384);
    CHECK_REFUSED(
        emu.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 1),
        CUDA_ERROR_INVALID_VALUE, "not emulated");
}

static void test_clusters(const struct setup *s)
{
    static const struct {
        unsigned x, y, grid;
        const char *word; /* of the refusal, or NULL */
    } cases[] = {
        {2, 1, 4, NULL},     {1, 1, 3, NULL},   {8, 1, 8, NULL},
        {0, 1, 4, "grid"},   {2, 1, 3, "grid"}, {1, 2, 4, "grid"},
        {16, 1, 16, "more"},
    };
    CUlaunchConfig config = config_of(s, ACTIVATIONS);
    CUlaunchAttribute attribute = {.id =
                                       CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};

    config.attrs = &attribute;
    config.numAttrs = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        attribute.value.clusterDim.x = cases[i].x;
        attribute.value.clusterDim.y = cases[i].y;
        attribute.value.clusterDim.z = 1;
        config.gridDimX = cases[i].grid;
        if (cases[i].word)
            CHECK_REFUSED(launch(s, ACTIVATIONS, &config),
                          CUDA_ERROR_INVALID_CLUSTER_SIZE, cases[i].word);
        else
            CHECK_INT(launch(s, ACTIVATIONS, &config), CUDA_SUCCESS);
    }
    config.gridDimX = attribute.value.clusterDim.x = 2;
    config.blockDimX = 33;
    CHECK_REFUSED(launch(s, ACTIVATIONS, &config), CUDA_ERROR_NOT_SUPPORTED,
                  "whole warps");
    gpu_sync();
}

static void test_most_shared(const struct setup *s)
{
    static const struct {
        const char *device;
        int most;
    } devices[] = {{"b200", 232448}, {"rtx5090", 101376}, {"h200", 232448}};
    CUfunction function = s->plan->launches[ACTIVATIONS].function;
    CUlaunchConfig config = config_of(s, ACTIVATIONS);

    for (int i = 0; i < 3; i++) {
        int most = devices[i].most, told;

        setenv("JITGEMM_EMU_DEVICE", devices[i].device, 1);
        EMU(cuDeviceGetAttribute(
            &told, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
        CHECK_INT(told, most);
        CHECK_REFUSED(emu.cuFuncSetAttribute(
                          function,
                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          most + 1),
                      CUDA_ERROR_INVALID_VALUE, "shared memory");
        EMU(cuFuncSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
    }
    unsetenv("JITGEMM_EMU_DEVICE");
    EMU(cuFuncSetAttribute(
        function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
    config.sharedMemBytes = 1;
    CHECK_REFUSED(launch(s, ACTIVATIONS, &config), CUDA_ERROR_INVALID_VALUE,
                  "may have 0");
}

static void test_wrong_context(const struct setup *s)
{
    CUlaunchConfig config = config_of(s, PRODUCT);
    CUcontext other = emu_begin();

    CHECK_REFUSED(launch(s, PRODUCT, &config), CUDA_ERROR_INVALID_HANDLE,
                  "another context");
    emu_end(other);
    CHECK_REFUSED(
        emu.cuLaunchKernelEx(&config, (CUfunction)&config, NULL, NULL),
        CUDA_ERROR_INVALID_HANDLE, "no function");
}

/* ---- Faults ------------------------------------------------------------ */

enum fault { PAST_THE_END, FREED, MISALIGNED, BAD_MAP };

/* The context keeps the error, and no other context has it. */
static void test_fault(enum fault fault, CUresult expected, const char *word)
{
    struct setup s = set_up();
    CUlaunchConfig config[2] = {config_of(&s, ACTIVATIONS),
                                config_of(&s, PRODUCT)};
    CUstream stream = emu_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr memory;

    s.plan->table.tiles = s.plan->table.units = 1;
    if (fault == PAST_THE_END)
        GPU(cuMemAlloc(&memory, 256));
    if (fault == PAST_THE_END)
        s.plan->table.workspace = (unsigned char *)(uintptr_t)memory + 256;
    if (fault == MISALIGNED)
        s.plan->table.workspace -= 8;
    if (fault == FREED)
        gpu_free(s.product.device[2][0]);
    if (fault == BAD_MAP)
        GPU(cuMemsetD8(s.plan->memory, 0, 64));
    gpu_sync();
    for (int i = 0; i < 2; i++) {
        config[i].hStream = stream;
        knobs->reason[0] = 0;
        CHECK_INT(launch(&s, i, &config[i]), CUDA_SUCCESS);
    }
    CHECK_INT(gpu.cuStreamSynchronize(stream), expected);
    if (!strstr(knobs->reason, word))
        fprintf(stderr, "\"%s\" has no \"%s\"\n", knobs->reason, word);
    CHECK(strstr(knobs->reason, word) != NULL);
    CHECK_INT(gpu.cuMemAlloc(&memory, 16), expected);
    CHECK_INT(gpu.cuCtxSynchronize(), expected);
    CHECK_INT(launch(&s, PRODUCT, &config[PRODUCT]), expected);
    CHECK_INT(jitgemm_run(s.plan, stream), JITGEMM_E_DRIVER);
    CHECK_INT(jitgemm_last_error()->cuda, expected);
    GPU(cuCtxPushCurrent(gpu.context));
    GPU(cuMemAlloc(&memory, 16));
    GPU(cuMemFree(memory));
    EMU(cuCtxPopCurrent(NULL));
    tear_down(&s);
}

/* A store behind the end of C, where nothing is mapped otherwise, is found
 * when C is freed. */
static void test_slack(void)
{
    struct setup s = set_up();
    jitgemm_operands operands = product_operands(&s.product);
    void *c = gpu_alloc((size_t)(m * n) * 2 - 16);

    operands.c = &c;
    JITGEMM(jitgemm_plan_bind(s.plan, &operands, NULL));
    JITGEMM(jitgemm_run(s.plan, NULL));
    gpu_sync();
    CHECK_REFUSED(gpu.cuMemFree((CUdeviceptr)(uintptr_t)c),
                  CUDA_ERROR_ILLEGAL_ADDRESS, "behind");
    CHECK_INT(gpu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    tear_down(&s);
}

/* ---- Overlap ----------------------------------------------------------- */

/* Weights may be copied before the product waits for the activations, as the
 * seed decides, so it is tried often; without the attribute it starts when
 * they are done. */
static void test_overlap(bool over_weights, bool early, CUresult expected)
{
    struct setup s = set_up();
    CUstream stream = emu_stream(CU_STREAM_NON_BLOCKING);
    CUlaunchAttribute overlap = {
        .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        .value.programmaticStreamSerializationAllowed = 1};

    if (over_weights)
        s.plan->table.workspace = s.product.device[2][0];
    gpu_sync();
    knobs->reason[0] = 0;
    for (int i = 0; i < 24; i++) {
        int kernel = i % 2 ? PRODUCT : ACTIVATIONS;
        CUlaunchConfig config = config_of(&s, kernel);

        config.hStream = stream;
        config.attrs = &overlap;
        config.numAttrs = early && i % 2 ? 1 : 0;
        CHECK_INT(launch(&s, kernel, &config), CUDA_SUCCESS);
    }
    CHECK_INT(gpu.cuStreamSynchronize(stream), expected);
    CHECK(!expected || strstr(knobs->reason, "missing-launch-wait") != NULL);
    tear_down(&s);
}

int main(void)
{
    struct setup s;

    setenv("JITGEMM_EMU_SEED", "4", 1); /* nothing happens before it must */
    if (!getenv("JITGEMM_LIBCUDA") || !emu_open())
        return TEST_SKIP;
    gpu.stream = NULL; /* of any context */
    s = set_up();
    test_sizes(&s);
    test_attributes(&s);
    test_clusters(&s);
    test_most_shared(&s);
    test_wrong_context(&s);
    tear_down(&s);
    test_fault(PAST_THE_END, CUDA_ERROR_ILLEGAL_ADDRESS, "out-of-bounds");
    test_fault(FREED, CUDA_ERROR_ILLEGAL_ADDRESS, "out-of-bounds");
    test_fault(MISALIGNED, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned");
    test_fault(BAD_MAP, CUDA_ERROR_LAUNCH_FAILED, "bad-tensor-map");
    test_slack();
    test_overlap(false, true, CUDA_SUCCESS);
    test_overlap(true, false, CUDA_SUCCESS);
    test_overlap(true, true, CUDA_ERROR_LAUNCH_FAILED);
    return test_end();
}
