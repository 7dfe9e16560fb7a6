/* SPDX-License-Identifier: MIT */
/* Four matrix products with weights of one shape, as the experts of a layer
 * are: plan, bind, run, check, time. matrices.h makes the operands. Without a
 * GPU, prepare the kernels for one. Usage: grouped_gemm [RUNS_TO_TIME] */
#include <jitgemm.h>

#include "matrices.h"

enum { GROUPS = 4, N = 512, K = 1024 };

static const int64_t m[GROUPS] = {48, 0, 129, 256}; /* tokens of an expert */
static const int64_t n[GROUPS] = {N, N, N, N};
static const int64_t k[GROUPS] = {K, K, K, K};
static const jitgemm_problem problem = {
    .size = sizeof problem, .groups = GROUPS, .m = m, .n = n, .k = k};

static void print_kernel(const jitgemm_kernel *kernel)
{
    static const char *const sources[] = {"none", "memory", "pack", "disk",
                                          "compiled"};

    printf("%-8s %8.1f ms  %s  %s\n", sources[kernel->source], kernel->ms,
           kernel->arch, kernel->name);
}

/* Fills the cache, so that a program that has a GPU compiles nothing. */
static void prepare_only(void)
{
    jitgemm_context_options options = {.size = sizeof options,
                                       .arch = "sm_90a"};
    jitgemm_kernel kernel = {.size = sizeof kernel};
    jitgemm_context *context;
    jitgemm_status status;

    must(jitgemm_context_create(&options, &context));
    for (int32_t i = 0;
         !(status = jitgemm_prepare(context, &problem, i, &kernel)); i++)
        print_kernel(&kernel);
    if (status != JITGEMM_E_NOT_FOUND) /* which ends the list */
        must(status);
    jitgemm_context_destroy(context);
    puts("The kernels are ready, but there is no GPU to launch them on.");
}

static int multiply(jitgemm_context *context, CUstream stream, int runs)
{
    struct matrix x[GROUPS], w[GROUPS]; /* tokens and weights */
    const void *a[GROUPS], *sfa[GROUPS], *b[GROUPS], *sfb[GROUPS];
    const float *alpha[GROUPS];
    void *c[GROUPS];
    jitgemm_operands operands = {.size = sizeof operands,
                                 .a = a,
                                 .sfa = sfa,
                                 .b = b,
                                 .sfb = sfb,
                                 .c = c,
                                 .alpha = alpha};
    jitgemm_kernel kernel = {.size = sizeof kernel};
    jitgemm_plan *plan;
    double worst = 0, start;

    must(jitgemm_plan_create(context, &problem, &plan)); /* may compile */
    for (int32_t i = 0; !jitgemm_plan_kernel(plan, i, &kernel); i++)
        print_kernel(&kernel);
    for (uint32_t g = 0; g < GROUPS; g++) {
        x[g] = make_matrix(m[g], K, 2 * g);
        w[g] = make_matrix(N, K, 2 * g + 1);
        a[g] = x[g].device_values;
        sfa[g] = x[g].device_scales;
        b[g] = w[g].device_values;
        sfb[g] = w[g].device_scales;
        c[g] = new_result(m[g], N);
        alpha[g] = new_alpha(&x[g], &w[g]);
    }
    must(jitgemm_plan_bind(plan, &operands, stream));
    must(jitgemm_run(plan, stream));
    must_cuda(cuda.cuStreamSynchronize(stream));
    for (int g = 0; g < GROUPS; g++)
        worst = fmax(worst, worst_error(&x[g], &w[g], c[g], m[g], N, K));
    printf("largest error: %.3f of what is allowed\n", worst);
    start = now_us();
    for (int i = 0; i < runs; i++)
        must(jitgemm_run(plan, stream));
    must_cuda(cuda.cuStreamSynchronize(stream));
    if (runs > 0)
        printf("%.1f us a run\n", (now_us() - start) / runs);
    jitgemm_plan_destroy(plan);
    for (int g = 0; g < GROUPS; g++) {
        free_matrix(&x[g]);
        free_matrix(&w[g]);
        free_device(c[g]);
        free_device(alpha[g]);
    }
    return worst <= 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    jitgemm_context *context;
    jitgemm_status status = jitgemm_context_create(NULL, &context);
    CUstream stream;
    int result;

    if (status == JITGEMM_E_NO_DRIVER || status == JITGEMM_E_NO_DEVICE) {
        prepare_only();
        return EXIT_SUCCESS;
    }
    must(status);
    cuda_open(); /* device 0, which is the context's default too */
    must_cuda(cuda.cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    result = multiply(context, stream, argc > 1 ? atoi(argv[1]) : 9);
    must_cuda(cuda.cuStreamDestroy(stream));
    jitgemm_context_destroy(context);
    return result;
}
