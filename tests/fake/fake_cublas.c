/* SPDX-License-Identifier: MIT */
/* A libcublas that computes on the host, from and to the memory of the device
 * that JITGEMM_LIBCUDA names, and adds nothing to a capture but an empty
 * function. FAKE_CUBLAS_WRONG=1 in the environment: all is an eighth too
 * large. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cublas.h"
#include "reference.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int cublasCreate_v2(struct cublasContext **handle);
EXPORT int cublasGetVersion_v2(struct cublasContext *handle, int *version);
EXPORT int cublasSetStream_v2(struct cublasContext *handle, void *stream);
EXPORT int cublasSetWorkspace_v2(struct cublasContext *handle, void *memory,
                                 size_t bytes);
EXPORT int cublasGemmEx(struct cublasContext *handle, int transpose_a,
                        int transpose_b, int m, int n, int k,
                        const void *alpha, const void *a, int a_type, int lda,
                        const void *b, int b_type, int ldb, const void *beta,
                        void *c, int c_type, int ldc, int compute_type,
                        int algorithm);
EXPORT int cublasGemmGroupedBatchedEx(
    struct cublasContext *handle, const int *transpose_a,
    const int *transpose_b, const int *m, const int *n, const int *k,
    const void *alpha, const void *const *a, int a_type, const int *lda,
    const void *const *b, int b_type, const int *ldb, const void *beta,
    void *const *c, int c_type, const int *ldc, int groups,
    const int *group_sizes, int compute_type);

enum { REFUSED = 7 }; /* CUBLAS_STATUS_INVALID_VALUE */

struct matrix { /* column-major, on the host */
    enum ref_type type;
    int rows, columns, stride;
    uint16_t *elements;
};

#define DRIVER_FUNCTIONS(_)                                                   \
    _(cuLaunchHostFunc)                                                       \
    _(cuMemcpyDtoH)                                                           \
    _(cuMemcpyHtoD)                                                           \
    _(cuStreamIsCapturing)                                                    \
    _(cuStreamSynchronize)

#define POINTER(name) __typeof__(name) *name;
static struct {
    DRIVER_FUNCTIONS(POINTER)
} driver;
static CUstream stream;

#define TEXT(name) #name
#define FIND(name)                                                            \
    address = dlsym(library, TEXT(name));                                     \
    if (!address)                                                             \
        return false;                                                         \
    memcpy(&driver.name, &address, sizeof address);

static bool open_driver(void)
{
    void *library = dlopen(getenv("JITGEMM_LIBCUDA"), RTLD_NOW);
    void *address;

    if (!library)
        return false;
    DRIVER_FUNCTIONS(FIND)
    return true;
}

static void nothing(void *unused)
{
    (void)unused;
}

static bool is_capturing(void)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

    driver.cuStreamIsCapturing(stream, &status);
    if (status == CU_STREAM_CAPTURE_STATUS_NONE)
        return false;
    driver.cuLaunchHostFunc(stream, nothing, NULL);
    return true;
}

static struct matrix matrix(int type, int rows, int columns, int stride)
{
    size_t count = (size_t)stride * (size_t)columns;

    return (struct matrix){type == CUBLAS_F16 ? REF_F16 : REF_BF16, rows,
                           columns, stride, calloc(count, sizeof(uint16_t))};
}

static CUdeviceptr address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static size_t bytes(const struct matrix *m)
{
    return 2 * (size_t)m->stride * (size_t)m->columns;
}

static void download(struct matrix *m, const void *from)
{
    driver.cuMemcpyDtoH(m->elements, address(from), bytes(m));
}

static void store(struct matrix *m, int row, int column, double value)
{
    float wide = (float)ref_round(m->type, value);
    uint32_t bits;

    memcpy(&bits, &wide, sizeof bits);
    m->elements[(size_t)column * (size_t)m->stride + (size_t)row] =
        m->type == REF_F16 ? ref_f16(value) : (uint16_t)(bits >> 16);
}

static double load(const struct matrix *m, int row, int column)
{
    return ref_load(m->type, m->elements, (int64_t)column * m->stride + row);
}

/* A transposed, B not, beta 0: all that the benchmark asks for. */
static void multiply(const struct matrix *a, const struct matrix *b,
                     double alpha, struct matrix *c)
{
    for (int j = 0; j < c->columns; j++)
        for (int i = 0; i < c->rows; i++) {
            double sum = 0;

            for (int l = 0; l < a->rows; l++)
                sum += load(a, l, i) * load(b, l, j);
            store(c, i, j, alpha * sum);
        }
}

int cublasCreate_v2(struct cublasContext **handle)
{
    *handle = NULL;
    return open_driver() ? CUBLAS_OK : REFUSED;
}

int cublasGetVersion_v2(struct cublasContext *handle, int *version)
{
    (void)handle;
    *version = 130000;
    return CUBLAS_OK;
}

int cublasSetStream_v2(struct cublasContext *handle, void *to)
{
    (void)handle;
    stream = to;
    return CUBLAS_OK;
}

int cublasSetWorkspace_v2(struct cublasContext *handle, void *memory,
                          size_t size)
{
    (void)handle;
    return memory && size ? CUBLAS_OK : REFUSED;
}

int cublasGemmEx(struct cublasContext *handle, int transpose_a,
                 int transpose_b, int m, int n, int k, const void *alpha,
                 const void *a, int a_type, int lda, const void *b, int b_type,
                 int ldb, const void *beta, void *c, int c_type, int ldc,
                 int compute_type, int algorithm)
{
    const char *wrong = getenv("FAKE_CUBLAS_WRONG");
    struct matrix host_a, host_b, host_c;

    (void)handle;
    (void)algorithm;
    if (transpose_a != CUBLAS_T || transpose_b != CUBLAS_N || lda < k ||
        ldb < k || ldc < m || compute_type != CUBLAS_IN_F32 ||
        *(const float *)beta != 0)
        return REFUSED;
    if (is_capturing())
        return CUBLAS_OK;
    driver.cuStreamSynchronize(stream);
    host_a = matrix(a_type, k, m, lda);
    host_b = matrix(b_type, k, n, ldb);
    host_c = matrix(c_type, m, n, ldc);
    download(&host_a, a);
    download(&host_b, b);
    multiply(&host_a, &host_b,
             (double)*(const float *)alpha * (wrong ? 1.125 : 1), &host_c);
    driver.cuMemcpyHtoD(address(c), host_c.elements, bytes(&host_c));
    driver.cuStreamSynchronize(NULL);
    free(host_a.elements);
    free(host_b.elements);
    free(host_c.elements);
    return CUBLAS_OK;
}

/* The arrays of pointers are in device memory; a group has one product. */
int cublasGemmGroupedBatchedEx(
    struct cublasContext *handle, const int *transpose_a,
    const int *transpose_b, const int *m, const int *n, const int *k,
    const void *alpha, const void *const *a, int a_type, const int *lda,
    const void *const *b, int b_type, const int *ldb, const void *beta,
    void *const *c, int c_type, const int *ldc, int groups,
    const int *group_sizes, int compute_type)
{
    if (is_capturing())
        return CUBLAS_OK;
    for (int g = 0; g < groups; g++) {
        const void *in[2] = {NULL, NULL};
        void *out = NULL;
        int status;

        if (group_sizes[g] != 1)
            return REFUSED;
        driver.cuMemcpyDtoH(&in[0], address(a + g), sizeof *in);
        driver.cuMemcpyDtoH(&in[1], address(b + g), sizeof *in);
        driver.cuMemcpyDtoH(&out, address(c + g), sizeof out);
        status =
            cublasGemmEx(handle, transpose_a[g], transpose_b[g], m[g], n[g],
                         k[g], (const float *)alpha + g, in[0], a_type, lda[g],
                         in[1], b_type, ldb[g], (const float *)beta + g, out,
                         c_type, ldc[g], compute_type, CUBLAS_ANY_WAY);
        if (status != CUBLAS_OK)
            return status;
    }
    return CUBLAS_OK;
}
