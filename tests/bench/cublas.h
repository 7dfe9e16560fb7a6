/* SPDX-License-Identifier: MIT */
/* libcublas, opened at run time: neither its headers nor the library are
 * needed to build. */
#ifndef BENCH_CUBLAS_H
#define BENCH_CUBLAS_H

#include <stddef.h>

struct cublasContext;

/* As the library numbers them. */
enum {
    CUBLAS_OK = 0,
    CUBLAS_N = 0,
    CUBLAS_T = 1,
    CUBLAS_F16 = 2,
    CUBLAS_BF16 = 14,
    CUBLAS_IN_F32 = 68, /* cublasComputeType_t */
    CUBLAS_ANY_WAY = -1 /* cublasGemmAlgo_t */
};

/* Their functions as documented, enums as int. Matrices are column-major. */
struct cublas {
    int (*create)(struct cublasContext **handle);
    int (*get_version)(struct cublasContext *handle, int *version);
    int (*set_stream)(struct cublasContext *handle, void *stream);
    int (*set_workspace)(struct cublasContext *handle, void *memory,
                         size_t bytes);
    int (*gemm)(struct cublasContext *handle, int transpose_a, int transpose_b,
                int m, int n, int k, const void *alpha, const void *a,
                int a_type, int lda, const void *b, int b_type, int ldb,
                const void *beta, void *c, int c_type, int ldc,
                int compute_type, int algorithm);
    /* All arrays are the host's, but a, b and c: device arrays of device
     * pointers. NULL before 12.5. */
    int (*gemm_grouped)(struct cublasContext *handle, const int *transpose_a,
                        const int *transpose_b, const int *m, const int *n,
                        const int *k, const void *alpha, const void *const *a,
                        int a_type, const int *lda, const void *const *b,
                        int b_type, const int *ldb, const void *beta,
                        void *const *c, int c_type, const int *ldc, int groups,
                        const int *group_sizes, int compute_type);
    struct cublasContext *handle;
    int version;
};

/* Opens JITGEMM_LIBCUBLAS, or else what the loader finds, for gpu.stream.
 * NULL, after saying so, if there is none. */
const struct cublas *cublas_open(void);

#endif
