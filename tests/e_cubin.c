/* SPDX-License-Identifier: MIT */
/* Which images the emulated driver takes: whole cubins for its own device,
 * of both layouts that there are. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <elf.h>
#include <stdlib.h>

#include "compile.h"
#include "driver.h"
#include "emu_calls.h"
#include "plan.h"

/* The smallest kernel, compiled for an arch. */
static struct jg_compiled compile(const char *arch)
{
    const struct jg_nvrtc *nvrtc;
    struct jg_compiled compiled = {0};
    struct jg_device device;
    struct jg_spec spec;

    JITGEMM(jg_compiler_open(0, &nvrtc));
    JITGEMM(jg_device_of_arch("sm_90a", &device));
    jg_spec_make(&jg_model_sm90.configs[1], &device, 0, &spec);
    snprintf(spec.arch, sizeof spec.arch, "%s", arch);
    JITGEMM(jg_compile(nvrtc, &spec, &compiled));
    return compiled;
}

static CUresult load(const void *image)
{
    CUlibrary library;
    CUresult result =
        emu.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0);

    if (result == CUDA_SUCCESS)
        EMU(cuLibraryUnload(library));
    return result;
}

static void test_archs(void)
{
    static const struct {
        const char *arch, *devices;
    } archs[] = {{"sm_90a", "h200"},
                 {"sm_100a", "b200"},
                 {"sm_103a", "none of them"},
                 {"sm_120a", "rtx5090"}};
    static const char *const devices[] = {"h200", "b200", "rtx5090"};

    for (int i = 0; i < 4; i++) {
        struct jg_compiled compiled = compile(archs[i].arch);

        for (int j = 0; j < 3; j++) {
            bool own = strcmp(devices[j], archs[i].devices) == 0;

            setenv("JITGEMM_EMU_DEVICE", devices[j], 1);
            CHECK_INT(load(compiled.cubin.data),
                      own ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU);
        }
        jg_compiled_free(&compiled);
    }
    unsetenv("JITGEMM_EMU_DEVICE");
}

/* Handles of a library that was unloaded, and names that it does not have. */
static void test_handles(const void *image)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1};

    EMU(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CHECK_REFUSED(emu.cuLibraryGetKernel(&kernel, library, "sm90"),
                  CUDA_ERROR_NOT_FOUND, "no sm90");
    EMU(cuLibraryGetKernel(&kernel, library, "sm90_activations"));
    EMU(cuKernelGetFunction(&function, kernel));
    EMU(cuLibraryUnload(library));
    CHECK_REFUSED(emu.cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE,
                  "no library");
    CHECK_REFUSED(emu.cuLibraryGetKernel(&kernel, library, "sm90_activations"),
                  CUDA_ERROR_INVALID_HANDLE, "no library");
    CHECK_REFUSED(emu.cuKernelGetFunction(&function, kernel),
                  CUDA_ERROR_INVALID_HANDLE, "no kernel");
    CHECK_REFUSED(emu.cuLaunchKernelEx(&config, function, NULL, NULL),
                  CUDA_ERROR_INVALID_HANDLE, "no function");
}

/* The bounds of its threads become the cluster that it requires. */
static void test_cluster(unsigned char *image, size_t size)
{
    static const unsigned char threads[] = {4, 5, 12, 0};
    static const uint32_t wanted[] = {2, 1, 1};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {4, 1, 1}};
    CUlaunchConfig config = {.gridDimX = 4,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    unsigned char *at = image, before[16];
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    int width;

    while (at + 16 < image + size && memcmp(at, threads, sizeof threads))
        at++;
    CHECK(at + 16 < image + size);
    memcpy(before, at, sizeof before);
    at[1] = 0x3d;
    memcpy(at + 4, wanted, sizeof wanted);
    EMU(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    EMU(cuLibraryGetKernel(&kernel, library, "sm90_activations"));
    EMU(cuKernelGetFunction(&function, kernel));
    EMU(cuFuncGetAttribute(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                           function));
    CHECK_INT(width, 2);
    CHECK_REFUSED(emu.cuLaunchKernelEx(&config, function, NULL, NULL),
                  CUDA_ERROR_INVALID_CLUSTER_SIZE, "requires 2 x 1 x 1");
    config.numAttrs = 0;
    config.gridDimX = 3;
    CHECK_REFUSED(emu.cuLaunchKernelEx(&config, function, NULL, NULL),
                  CUDA_ERROR_INVALID_CLUSTER_SIZE, "clusters of 2");
    EMU(cuLibraryUnload(library));
    memcpy(at, before, sizeof before);
}

/* The layout of the other CUDA version has the number elsewhere. */
static void test_layouts(unsigned char *image)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)image, before = *header;

    header->e_ident[EI_ABIVERSION] = 7;
    header->e_flags = 0x5a055a; /* as NVRTC 12 writes for sm_90a */
    CHECK_INT(load(image), CUDA_SUCCESS);
    header->e_flags = 0x5a0564;
    CHECK_REFUSED(load(image), CUDA_ERROR_NO_BINARY_FOR_GPU, "sm_100");
    header->e_ident[EI_ABIVERSION] = 8;
    header->e_flags = 0x06005a04;
    CHECK_INT(load(image), CUDA_SUCCESS);
    header->e_ident[EI_ABIVERSION] = 9;
    CHECK_REFUSED(load(image), CUDA_ERROR_INVALID_IMAGE, "ABI version");
    *header = before;
}

static void test_damage(unsigned char *image)
{
    static const struct {
        size_t at, bytes;
        uint64_t value;
        const char *word;
    } damages[] = {
        {0, 1, 'e', "no ELF"},
        {EI_CLASS, 1, ELFCLASS32, "another machine"},
        {offsetof(Elf64_Ehdr, e_machine), 2, EM_X86_64, "another machine"},
        {offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX / 2, "section table"},
        {offsetof(Elf64_Ehdr, e_shoff), 8, 1 << 29, "section table"},
        {offsetof(Elf64_Ehdr, e_shnum), 2, 0, "section table"},
        {offsetof(Elf64_Ehdr, e_shstrndx), 2, 999, "section table"},
        {offsetof(Elf64_Ehdr, e_shentsize), 2, 40, "section table"},
    };
    Elf64_Ehdr header;
    Elf64_Shdr *section;

    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        unsigned char before[8];

        memcpy(before, image + damages[i].at, damages[i].bytes);
        memcpy(image + damages[i].at, &damages[i].value, damages[i].bytes);
        CHECK_REFUSED(load(image), CUDA_ERROR_INVALID_IMAGE, damages[i].word);
        memcpy(image + damages[i].at, before, damages[i].bytes);
    }
    memcpy(&header, image, sizeof header);
    section = (Elf64_Shdr *)(void *)(image + header.e_shoff) + 1;
    section->sh_offset += UINT32_MAX;
    CHECK_REFUSED(load(image), CUDA_ERROR_INVALID_IMAGE, "outside");
    section->sh_offset -= UINT32_MAX;
    CHECK_INT(load(image), CUDA_SUCCESS);
}

int main(void)
{
    struct jg_compiled compiled;

    if (!getenv("JITGEMM_LIBCUDA") || !emu_open())
        return TEST_SKIP;
    test_archs();
    compiled = compile("sm_90a");
    test_handles(compiled.cubin.data);
    test_cluster(compiled.cubin.data, compiled.cubin.size);
    test_layouts(compiled.cubin.data);
    test_damage(compiled.cubin.data);
    jg_compiled_free(&compiled);
    return test_end();
}
