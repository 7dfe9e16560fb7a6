/* SPDX-License-Identifier: MIT */
/* NVRTC assembles every wrapper of Blackwell's instructions and of clusters',
 * and the kernel of tests/ that bugs are planted in; the builders of
 * descriptors give on the device what they are known to be. */
#include <stdbool.h>
#include <stdlib.h>

#include "compiler.h"
#include "kernel_text.h"
#include "test.h"

static const char one_block[] =
    "#include <mma/tcgen05_tile.cuh>\n"
    "#include <ptx/sync.cuh>\n"
    "#include <ptx/tcgen05.cuh>\n"
    "#include <ptx/tensormap.cuh>\n"
    "#include <ptx/tma.cuh>\n"
    "using namespace ptx;\n"
    "static_assert(mma::product_instruction(128, 128) == 0x08200480);\n"
    "static_assert(mma::operand_descriptor(0) == 0x4000404000010000);\n"
    "static_assert(mma::scale_descriptor(0) == 0x0000400800000000);\n"
    "struct alignas(64) map { u8 bytes[128]; };\n"
    "__device__ void store(float *to, const float *from, int n)\n"
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        to[i] = from[i];\n"
    "}\n"
    "extern \"C\" __global__ void all(map *maps, float *out, int n,\n"
    "                                 const __grid_constant__ map fixed)\n"
    "{\n"
    "    u8 *memory = dynamic_smem();\n"
    "    mbarrier *barrier = (mbarrier *)memory;\n"
    "    u32 *slot = (u32 *)(memory + 8);\n"
    "    u32 s = shared_address(memory + 1024);\n"
    "    tcgen05_alloc(slot, 256);\n"
    "    tcgen05_relinquish_alloc_permit();\n"
    "    tcgen05_fence_before_thread_sync();\n"
    "    __syncthreads();\n"
    "    tcgen05_fence_after_thread_sync();\n"
    "    u32 base = *slot;\n"
    "    if (threadIdx.x < 32 && elect_one()) {\n"
    "        prefetch_tensormap(&fixed);\n"
    "        tensormap_replace_global_address(maps, out);\n"
    "        tensormap_replace_global_dim<0>(maps, n);\n"
    "        tensormap_replace_global_dim<1>(maps, n);\n"
    "        tensormap_replace_global_stride<0>(maps, 16 * n);\n"
    "        fence_proxy_tensormap_release();\n"
    "        fence_proxy_tensormap_acquire(maps);\n"
    "        cp_async_bulk_tensor_2d(memory, maps, 0, 0, barrier);\n"
    "        cp_async_bulk_tensor_2d(memory, &fixed, 0, 0, barrier);\n"
    "        cp_async_bulk_commit_group();\n"
    "        cp_async_bulk_wait_group_read<0>();\n"
    "        for (int i = 0; i < n; i++) {\n"
    "            tcgen05_cp_32x128b_warpx4(base + 128,\n"
    "                                      mma::scale_descriptor(s));\n"
    "            tcgen05_mma_mxf4nvf4(base, mma::operand_descriptor(s),\n"
    "                mma::operand_descriptor(s + 16384),\n"
    "                mma::product_instruction(128, 128), base + 128,\n"
    "                base + 132, i > 0);\n"
    "        }\n"
    "        tcgen05_commit(barrier);\n"
    "    }\n"
    "    float x8[8], x16[16], x32[32];\n"
    "    tcgen05_ld_32x32b_x8(x8, base);\n"
    "    tcgen05_ld_32x32b_x16(x16, base + 8);\n"
    "    tcgen05_ld_32x32b_x32(x32, base + 24);\n"
    "    tcgen05_wait_ld();\n"
    "    store(out + 64 * threadIdx.x, x8, 8);\n"
    "    store(out + 64 * threadIdx.x + 8, x16, 16);\n"
    "    store(out + 64 * threadIdx.x + 24, x32, 32);\n"
    "    tcgen05_fence_before_thread_sync();\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x < 32)\n"
    "        tcgen05_dealloc(base, 256);\n"
    "    tcgen05_commit_multicast(barrier, 3);\n"
    "}\n";

static const char pair[] =
    "#include <mma/tcgen05_tile.cuh>\n"
    "#include <ptx/tcgen05.cuh>\n"
    "using namespace ptx;\n"
    "static_assert(mma::product_instruction(256, 128) == 0x10200480);\n"
    "extern \"C\" __global__ void pair(const u8 *map, u64 a, u64 b)\n"
    "{\n"
    "    u8 *memory = dynamic_smem();\n"
    "    mbarrier *barrier = (mbarrier *)memory;\n"
    "    u32 *slot = (u32 *)(memory + 8);\n"
    "    tcgen05_alloc<2>(slot, 256);\n"
    "    tcgen05_relinquish_alloc_permit<2>();\n"
    "    cp_async_bulk_tensor_2d_pair(memory, map, 0, 0, barrier);\n"
    "    tcgen05_cp_32x128b_warpx4<2>(*slot, a);\n"
    "    tcgen05_mma_mxf4nvf4<2>(*slot, a, b,\n"
    "        mma::product_instruction(256, 128), *slot, *slot, true);\n"
    "    tcgen05_commit<2>(barrier);\n"
    "    tcgen05_commit_multicast<2>(barrier, 3);\n"
    "    tcgen05_dealloc<2>(*slot, 256);\n"
    "}\n";

static const char cluster[] =
    "#include <ptx/cluster.cuh>\n"
    "#include <ptx/tma.cuh>\n"
    "using namespace ptx;\n"
    "extern \"C\" __global__ void cluster(const u8 *map, u32 *out)\n"
    "{\n"
    "    u8 *memory = dynamic_smem();\n"
    "    mbarrier *barrier = (mbarrier *)memory;\n"
    "    barrier_cluster_arrive();\n"
    "    barrier_cluster_wait();\n"
    "    u32 rank = cluster_ctarank();\n"
    "    out[rank] = cluster_nctarank();\n"
    "    u32 *peer = mapa((u32 *)memory, rank ^ 1);\n"
    "    out[rank + 8] = *peer;\n"
    "    mbarrier_arrive_cluster(barrier, rank ^ 1);\n"
    "    cp_async_bulk_multicast(memory, map, 16, barrier, 3);\n"
    "    cp_async_bulk_tensor_2d_multicast(memory, map, 0, 0, barrier, 3);\n"
    "}\n";

static const char *const headers[] = {"ptx/cluster.cuh", "ptx/tcgen05.cuh",
                                      "ptx/tensormap.cuh"};
static const char *const archs[] = {"--gpu-architecture=sm_90a",
                                    "--gpu-architecture=sm_100a",
                                    "--gpu-architecture=sm_103a"};
enum { ARCHS = sizeof archs / sizeof *archs };
/* Texts, or files of tests/, and which of those assemble them. */
static const struct source {
    const char *text, *file;
    size_t first, end;
} sources[] = {
    {one_block, NULL, 1, ARCHS},
    {pair, NULL, 1, ARCHS},
    {cluster, NULL, 0, ARCHS},
    {NULL, "multicast_pipeline.cu", 0, 1},
};
enum { SOURCES = sizeof sources / sizeof *sources };

static const char *text_of(const char *name)
{
    for (size_t i = 0; i < jg_kernel_texts_count; i++)
        if (strcmp(jg_kernel_texts[i].name, name) == 0)
            return jg_kernel_texts[i].text;
    return "";
}

/* A wrapper that nothing calls is not assembled. */
static void check_called(const char *name, int length, const char *after)
{
    char call[80];
    bool found = false;

    snprintf(call, sizeof call, " %.*s%s", length, name, after);
    for (size_t i = 0; i < SOURCES; i++)
        found |= sources[i].text && strstr(sources[i].text, call);
    if (!found)
        fprintf(stderr, "nothing calls%s\n", call);
    CHECK(found);
}

static bool follows(const char *at, const char *text)
{
    return !strncmp(at - strlen(text), text, strlen(text));
}

static void check_all_called(const char *header)
{
    static const char before[] = "__device__ inline ";
    const char *at = text_of(header);
    int count = 0;

    while ((at = strstr(at, before))) {
        const char *end = strchr(at, '('), *name = end;

        while (!strchr(" *\n", name[-1]))
            name--;
        check_called(name, (int)(end - name),
                     follows(at, "<int dimension>\n") ? "<" : "(");
        if (follows(at, "<int ctas = 1>\n"))
            check_called(name, (int)(end - name), "<2>(");
        count++;
        at = end;
    }
    CHECK(count > 3);
}

static void check_compiles(const struct jg_nvrtc *nvrtc, const char *text,
                           const char *arch)
{
    size_t count = jg_kernel_texts_count, size = 0;
    const char **texts = calloc(2 * count, sizeof *texts);
    const char **names = texts + count;
    const char *const options[] = {arch, "--std=c++17"};
    nvrtcProgram program = NULL;
    nvrtcResult result;

    for (size_t i = 0; i < count; i++) {
        texts[i] = jg_kernel_texts[i].text;
        names[i] = jg_kernel_texts[i].name;
    }
    result = nvrtc->nvrtcCreateProgram(&program, text, "test.cu", (int)count,
                                       texts, names);
    CHECK_INT(result, NVRTC_SUCCESS);
    result = nvrtc->nvrtcCompileProgram(program, 2, options);
    nvrtc->nvrtcGetProgramLogSize(program, &size);
    char *log = calloc(1, size + 1);
    nvrtc->nvrtcGetProgramLog(program, log);
    CHECK_INT(result, NVRTC_SUCCESS);
    CHECK_STR(log, "");
    size = 0;
    CHECK_INT(nvrtc->nvrtcGetCUBINSize(program, &size), NVRTC_SUCCESS);
    CHECK(size > 0);
    printf("%s: %zu bytes\n", arch, size);
    nvrtc->nvrtcDestroyProgram(&program);
    free(log);
    free(texts);
}

/* A file of tests/, which the caller frees. */
static char *read_text(const char *name)
{
    const char *folder = getenv("JG_SRCDIR");
    char path[4096], *text = calloc(1, 1 << 16);
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/%s", folder ? folder : ".", name);
    file = fopen(path, "r");
    CHECK(file && text && fread(text, 1, (1 << 16) - 1, file) > 0);
    if (file)
        fclose(file);
    return text;
}

int main(void)
{
    const struct jg_nvrtc *nvrtc;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        check_all_called(headers[i]);
    if (jg_compiler_open(0, &nvrtc) != JITGEMM_OK) {
        printf("skipped: %s\n", jitgemm_last_error()->text);
        return TEST_SKIP;
    }
    if (nvrtc->major == 12 && nvrtc->minor < 9) {
        printf("skipped: NVRTC %d.%d does not know .block16\n", nvrtc->major,
               nvrtc->minor);
        return TEST_SKIP;
    }
    for (size_t i = 0; i < SOURCES; i++) {
        char *file = sources[i].file ? read_text(sources[i].file) : NULL;

        for (size_t j = sources[i].first; j < sources[i].end; j++)
            check_compiles(nvrtc, file ? file : sources[i].text, archs[j]);
        free(file);
    }
    return test_end();
}
