/* SPDX-License-Identifier: MIT */
/* Finding the library and making a handle. */
#include "cublas.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"
#include "library.h"

#define WORKSPACE                                                             \
    ((size_t)64 << 20) /* what it takes itself, twice: in a                   \
                          capture it should allocate none */

static const struct jg_symbol symbols[] = {
    {"cublasCreate_v2", offsetof(struct cublas, create)},
    {"cublasGetVersion_v2", offsetof(struct cublas, get_version)},
    {"cublasSetStream_v2", offsetof(struct cublas, set_stream)},
    {"cublasSetWorkspace_v2", offsetof(struct cublas, set_workspace)},
    {"cublasGemmEx", offsetof(struct cublas, gemm)},
};
static const struct jg_symbol grouped[] = {
    {"cublasGemmGroupedBatchedEx", offsetof(struct cublas, gemm_grouped)},
};

static void *open_library(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
                                        "/usr/local/cuda/lib64/libcublas.so"};
    const char *path = getenv("JITGEMM_LIBCUBLAS"), *why = "";
    void *library = NULL;

    if (path && *path)
        library = jg_library_open(path, &why);
    else
        for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
            library = jg_library_open(names[i], &why);
    if (!library)
        fprintf(stderr, "no cuBLAS: %s\n", why);
    return library;
}

const struct cublas *cublas_open(void)
{
    static struct cublas cublas;
    void *library = open_library();
    const char *missing;

    if (!library)
        return NULL;
    missing = jg_library_fill(library, symbols,
                              sizeof symbols / sizeof *symbols, &cublas);
    if (missing) {
        fprintf(stderr, "no cuBLAS: it has no %s\n", missing);
        return NULL;
    }
    jg_library_fill(library, grouped, 1, &cublas);
    if (cublas.create(&cublas.handle) != CUBLAS_OK ||
        cublas.set_stream(cublas.handle, gpu.stream) != CUBLAS_OK ||
        cublas.set_workspace(cublas.handle, gpu_alloc(WORKSPACE), WORKSPACE) !=
            CUBLAS_OK ||
        cublas.get_version(cublas.handle, &cublas.version) != CUBLAS_OK) {
        fprintf(stderr, "no cuBLAS: it does not start\n");
        return NULL;
    }
    return &cublas;
}
