/* SPDX-License-Identifier: MIT */
/* Operands on the GPU, and C against the reference. */
#define _GNU_SOURCE /* sysconf's processors */
#include "product.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "launch.h"

#define POISON 0x7e5a /* an f16 NaN; conversions make 0x7fff. Any f32 or bf16
                         of it is no element of a product either */
#define GUARD 128     /* elements behind C that nobody may write */
#define MOST_BYTES 4  /* of an element */

enum { A, SFA, B, SFB, C, ALPHA, BIAS, POINTERS };

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(99);
    }
    return memory;
}

static int64_t *copy_sizes(const int64_t *from, int32_t count)
{
    int64_t *to = allocate((size_t)count, sizeof *to);

    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

static size_t element_bytes(const struct product *p)
{
    return p->c_type == JITGEMM_F32 ? 4 : 2;
}

static size_t row_c(const struct product *p, int32_t g)
{
    return p->row_c ? (size_t)p->row_c : (size_t)p->n[g] * element_bytes(p);
}

/* With the guard behind it. */
static size_t c_bytes(const struct product *p, int32_t g)
{
    return (size_t)p->m[g] * row_c(p, g) + GUARD * MOST_BYTES;
}

static void *upload_rows(const struct product *p, int32_t g)
{
    const struct ref_operand *a = &p->a[g];
    size_t rows = (size_t)p->m[g], row = rows ? a->value_bytes / rows : 0;
    size_t step = p->row_a ? (size_t)p->row_a : row;
    size_t bytes = rows ? (rows - 1) * step + row : 0; /* to the last one */
    unsigned char *memory = allocate(bytes, 1);
    void *device;

    memset(memory, 0xff, bytes);
    for (size_t i = 0; i < rows; i++)
        memcpy(memory + i * step, a->values + i * row, row);
    device = gpu_upload(memory, bytes);
    free(memory);
    return device;
}

static void upload_a(struct product *p, int32_t g)
{
    const struct ref_operand *a = &p->a[g];

    p->device[A][g] = upload_rows(p, g);
    p->device[SFA][g] =
        a->scales ? gpu_upload(a->scales, a->scale_bytes) : NULL;
}

static void upload_b(struct product *p, int32_t g)
{
    const struct ref_operand *b = &p->b[g];

    p->device[B][g] = gpu_upload(b->values, b->value_bytes);
    p->device[SFB][g] = gpu_upload(b->scales, b->scale_bytes);
}

static void upload_group(struct product *p, int32_t g)
{
    upload_a(p, g);
    upload_b(p, g);
    p->device[C][g] =
        gpu_alloc(MOST_BYTES * (size_t)(p->m[g] * p->n[g] + GUARD));
    if (p->with_alpha)
        p->device[ALPHA][g] = gpu_upload(&p->alpha[g], sizeof(float));
}

void product_upload(struct product *p)
{
    for (int i = 0; i < POINTERS; i++)
        p->device[i] = allocate((size_t)p->groups, sizeof(void *));
    for (int32_t g = 0; g < p->groups; g++)
        upload_group(p, g);
}

void product_release(struct product *p)
{
    for (int i = 0; i < POINTERS; i++) {
        for (int32_t g = 0; g < p->groups; g++)
            gpu_free(p->device[i][g]);
        free(p->device[i]);
    }
}

void product_make(struct product *p, int32_t groups, const int64_t *m,
                  const int64_t *n, const int64_t *k, enum ref_fill fill,
                  bool alpha, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->groups = groups;
    p->m = copy_sizes(m, groups);
    p->n = copy_sizes(n, groups);
    p->k = copy_sizes(k, groups);
    p->a = allocate((size_t)groups, sizeof *p->a);
    p->b = allocate((size_t)groups, sizeof *p->b);
    p->alpha = allocate((size_t)groups, sizeof *p->alpha);
    p->with_alpha = alpha;
    for (int32_t g = 0; g < groups; g++) {
        ref_operand_alloc(&p->a[g], m[g], k[g]);
        ref_operand_alloc(&p->b[g], n[g], k[g]);
        ref_operand_fill(&p->a[g], fill, ref_random(&seed));
        ref_operand_fill(&p->b[g], fill, ref_random(&seed));
        /* A product of REF_FULL elements is about 2^18, a sum of k of them
         * about sqrt(k) times that; this brings it to a few hundred. */
        p->alpha[g] = 1.0f;
        if (alpha)
            p->alpha[g] = (float)(1 + (double)(ref_random(&seed) % 256) / 256) *
                          (float)(ldexp(1, -10) / sqrt((double)k[g]));
    }
    product_upload(p);
}

void product_make_a(struct product *p, jitgemm_input type, enum ref_fill fill,
                    uint64_t seed)
{
    p->a_type = type;
    for (int32_t g = 0; g < p->groups; g++) {
        ref_operand_free(&p->a[g]);
        ref_operand_alloc_type(&p->a[g], p->m[g], p->k[g],
                               type == JITGEMM_INPUT_BF16 ? REF_BF16
                                                          : REF_F16);
        ref_operand_fill(&p->a[g], fill, ref_random(&seed));
        gpu_free(p->device[A][g]);
        gpu_free(p->device[SFA][g]);
        upload_a(p, g);
    }
}

void product_make_mxfp4(struct product *p, enum ref_fill fill, uint64_t seed)
{
    p->b_type = JITGEMM_WEIGHTS_MXFP4;
    for (int32_t g = 0; g < p->groups; g++) {
        ref_operand_free(&p->b[g]);
        ref_operand_alloc_mx(&p->b[g], p->n[g], p->k[g]);
        ref_operand_fill(&p->b[g], fill, ref_random(&seed));
        gpu_free(p->device[B][g]);
        gpu_free(p->device[SFB][g]);
        upload_b(p, g);
    }
}

void product_make_bias(struct product *p, uint64_t seed)
{
    enum ref_type type = (enum ref_type)p->c_type;
    size_t bytes = p->c_type == JITGEMM_F32 ? 4 : 2;

    p->bias = allocate((size_t)p->groups, sizeof *p->bias);
    for (int32_t g = 0; g < p->groups; g++) {
        size_t n = (size_t)p->n[g];
        unsigned char *elements = allocate(n, bytes);

        if (g % 3 < 2)
            p->bias[g] = allocate(n, sizeof(double));
        for (size_t j = 0; j < n && p->bias[g]; j++) {
            double any = (double)(ref_random(&seed) % 65536) / 64 - 512;

            ref_store(type, elements, (int64_t)j, any);
            p->bias[g][j] = ref_load(type, elements, (int64_t)j);
        }
        if (p->bias[g])
            p->device[BIAS][g] = gpu_upload(elements, n * bytes);
        free(elements);
    }
}

void product_make_rows(struct product *p, int64_t gap_a, int64_t gap_c)
{
    for (int32_t g = 0; g < p->groups; g++) {
        int64_t a = p->a_type ? 2 * p->k[g] : p->k[g] / 2;
        int64_t c = p->n[g] * (int64_t)element_bytes(p);

        if (gap_a && a + gap_a > p->row_a)
            p->row_a = a + gap_a;
        if (gap_c && c + gap_c > p->row_c)
            p->row_c = c + gap_c;
    }
    for (int32_t g = 0; g < p->groups; g++) {
        gpu_free(p->device[A][g]);
        gpu_free(p->device[SFA][g]);
        gpu_free(p->device[C][g]);
        upload_a(p, g);
        p->device[C][g] = gpu_alloc(c_bytes(p, g));
    }
}

void product_free(struct product *p)
{
    for (int32_t g = 0; g < p->groups; g++) {
        ref_operand_free(&p->a[g]);
        ref_operand_free(&p->b[g]);
        if (p->bias)
            free(p->bias[g]);
    }
    free(p->bias);
    product_release(p);
    free(p->m);
    free(p->n);
    free(p->k);
    free(p->a);
    free(p->b);
    free(p->alpha);
}

jitgemm_problem product_problem(const struct product *p)
{
    return (jitgemm_problem){.size = sizeof(jitgemm_problem),
                             .flags = p->flags,
                             .groups = p->groups,
                             .m = p->m,
                             .n = p->n,
                             .k = p->k,
                             .c_type = p->c_type,
                             .a_type = p->a_type,
                             .b_type = p->b_type,
                             .row_a = p->row_a,
                             .row_c = p->row_c};
}

jitgemm_operands product_operands(const struct product *p)
{
    return (jitgemm_operands){
        .size = sizeof(jitgemm_operands),
        .a = (const void *const *)p->device[A],
        .sfa = p->a_type ? NULL : (const void *const *)p->device[SFA],
        .b = (const void *const *)p->device[B],
        .sfb = (const void *const *)p->device[SFB],
        .c = p->device[C],
        .alpha = (const float *const *)p->device[ALPHA],
        .bias = (const void *const *)p->device[BIAS],
    };
}

jitgemm_plan *product_plan(const struct product *p, jitgemm_context *context,
                           const struct jg_config *config)
{
    jitgemm_problem problem = product_problem(p);
    jitgemm_operands operands = product_operands(p);
    jitgemm_plan *plan;

    if (config) {
        struct jg_problem checked;
        struct jg_config typed = *config;

        typed.input = (enum jg_input)p->a_type;
        typed.weights = (enum jg_weights)p->b_type;
        typed.output = (enum jg_output)p->c_type;
        typed.strided = p->row_a || p->row_c;
        typed.accumulate = p->flags & JITGEMM_ACCUMULATE;
        JITGEMM(jg_problem_read(&problem, &checked));
        JITGEMM(jg_launch_create(context, &checked, &typed, &plan));
    } else {
        JITGEMM(jitgemm_plan_create(context, &problem, &plan));
    }
    JITGEMM(jitgemm_plan_bind(plan, &operands, gpu.stream));
    return plan;
}

/* What C has before it is added to: small numbers, all different. */
static double before(int64_t i)
{
    return (double)(i * 7919 % 4093) / 8 - 256;
}

static void fill_c(const struct product *p, int32_t g)
{
    unsigned char *c = product_download(p, g);
    size_t step = row_c(p, g);

    for (int64_t i = 0; i < p->m[g]; i++)
        for (int64_t j = 0; j < p->n[g]; j++)
            ref_store((enum ref_type)p->c_type, c + (size_t)i * step, j,
                      before(i * p->n[g] + j));
    GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)p->device[C][g], c,
                     c_bytes(p, g)));
    free(c);
}

void product_poison(const struct product *p)
{
    for (int32_t g = 0; g < p->groups; g++)
        GPU(cuMemsetD16((CUdeviceptr)(uintptr_t)p->device[C][g], POISON,
                        c_bytes(p, g) / 2));
    GPU(cuCtxSynchronize());
    for (int32_t g = 0; g < p->groups && p->flags & JITGEMM_ACCUMULATE; g++)
        fill_c(p, g);
    GPU(cuCtxSynchronize());
}

void *product_download(const struct product *p, int32_t g)
{
    size_t bytes = c_bytes(p, g);
    void *c = allocate(bytes, 1);

    gpu_download(c, p->device[C][g], bytes);
    return c;
}

static void say(int64_t bad, int32_t g, int64_t row, int64_t column,
                double got, double exact)
{
    if (bad < 4)
        fprintf(stderr, "  group %d, C[%lld, %lld] is %g, not %g\n", (int)g,
                (long long)row, (long long)column, got, exact);
}

/* The rows of an operand from `first`, a multiple of 128: blocked scales make
 * such a part an operand too. */
static struct ref_operand part(const struct ref_operand *whole, int64_t first,
                               int64_t rows)
{
    struct ref_operand some = *whole;

    some.rows = rows;
    if (whole->scales) {
        some.values += first * whole->k / 2;
        some.scales += ref_scale_offset(first, 0, whole->k);
    } else {
        some.values += first * whole->k * 2;
    }
    return some;
}

/* `c` begins at the row `first`. */
static int64_t check_rows(const struct product *p, int32_t g, int64_t first,
                          int64_t rows, const void *c, bool exactly,
                          double *worst)
{
    struct ref_operand a = part(&p->a[g], first, rows);
    enum ref_type type = (enum ref_type)p->c_type;
    int64_t n = p->n[g], bad = 0;
    double *exact = allocate(2 * (size_t)(rows * n), sizeof *exact);
    double *sum = exact + rows * n;

    ref_product(&a, &p->b[g], p->alpha[g], exact, sum,
                (int)sysconf(_SC_NPROCESSORS_ONLN));
    if (p->bias && p->bias[g])
        ref_add_bias(p->bias[g], rows, n, exact, sum);
    for (int64_t i = 0; i < rows * n && p->flags & JITGEMM_ACCUMULATE; i++) {
        unsigned char old[4];
        double value;

        ref_store(type, old, 0, before(first * n + i));
        value = ref_load(type, old, 0);
        exact[i] += value;
        sum[i] += fabs(value);
    }
    for (int64_t i = 0; i < rows * n; i++) {
        double got = ref_load(type, c, i), error = fabs(got - exact[i]);
        bool good = ref_agrees(type, got, exact[i], sum[i], p->k[g]);

        if (exactly)
            good = got == ref_round(type, exact[i]);
        if (good && error / ref_bound(exact[i], sum[i], p->k[g]) > *worst)
            *worst = error / ref_bound(exact[i], sum[i], p->k[g]);
        if (!good)
            say(bad++, g, first + i / n, i % n, got, exact[i]);
    }
    free(exact);
    return bad;
}

/* Halves between rows of C and behind it that are not the poison any more;
 * brings the rows together. */
static int64_t pack_rows(const struct product *p, int32_t g, unsigned char *c)
{
    size_t row = (size_t)p->n[g] * element_bytes(p), step = row_c(p, g);
    size_t rows = (size_t)p->m[g], all = c_bytes(p, g);
    int64_t bad = 0;

    for (size_t i = 0; i < all; i += 2) {
        uint16_t half;

        memcpy(&half, c + i, 2);
        if ((i / step >= rows || i % step >= row) && half != POISON)
            say(bad++, g, (int64_t)(i / step), (int64_t)(i % step), half, NAN);
    }
    for (size_t i = 1; i < rows; i++)
        memmove(c + i * row, c + i * step, row);
    return bad;
}

int64_t product_check(const struct product *p, int64_t most_rows, bool exact,
                      double *worst)
{
    int64_t bad = 0;

    *worst = 0;
    for (int32_t g = 0; g < p->groups; g++) {
        int64_t m = p->m[g];
        int64_t rows = most_rows && most_rows < m ? most_rows : m;
        int64_t first = (m - rows) / 128 * 128; /* the last ones */
        size_t row_bytes = (size_t)p->n[g] * element_bytes(p);
        unsigned char *c = product_download(p, g);

        bad += pack_rows(p, g, c);
        bad += check_rows(p, g, first, rows, c + (size_t)first * row_bytes,
                          exact, worst);
        free(c);
    }
    return bad;
}
