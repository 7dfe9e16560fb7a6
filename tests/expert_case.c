/* SPDX-License-Identifier: MIT */
/* Operands of experts on the GPU. */
#include "expert_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "launch.h"
#include "plan.h"

#define POISON                                                                \
    0xa5 /* of C: as f16, bf16 and f32 a number that no test has              \
          */

static void *allocate(size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(99);
    }
    return memory;
}

static int64_t all_rows(const struct expert_case *c)
{
    return c->rows.layout == JITGEMM_ROWS_MASKED
               ? c->rows.groups * c->rows.max_rows
               : c->rows.max_rows;
}

static size_t numbers_bytes(const struct expert_case *c)
{
    return 4 *
           (size_t)(c->rows.groups + (c->rows.layout == JITGEMM_ROWS_STACKED));
}

static size_t element_bytes(const struct expert_case *c)
{
    return c->c_type == JITGEMM_F32 ? 4 : 2;
}

static size_t row_c(const struct expert_case *c)
{
    return c->row_c ? (size_t)c->row_c : (size_t)c->n * element_bytes(c);
}

/* What is between rows is no number. */
static const void *upload_a(const struct expert_case *c)
{
    size_t row = (size_t)(c->a.scales ? c->k / 2 : 2 * c->k);
    size_t step = c->row_a ? (size_t)c->row_a : row;
    size_t rows = (size_t)all_rows(c), bytes = rows * step;
    uint8_t *memory = allocate(bytes);
    const void *device;

    memset(memory, 0xff, bytes);
    for (size_t i = 0; i < rows; i++)
        memcpy(memory + i * step, c->a.values + i * row, row);
    device = gpu_upload(memory, bytes);
    free(memory);
    return device;
}

/* One part a group, `gap` bytes between them, which are poison. */
static const void *upload_stack(const struct expert_case *c, bool scales,
                                int64_t *stride)
{
    size_t part = scales ? c->b[0].scale_bytes : (size_t)(c->n * c->k / 2);
    size_t step = part + (size_t)c->gap;
    size_t bytes = ((size_t)c->rows.groups - 1) * step + part;
    uint8_t *memory = allocate(bytes);
    void *device;

    memset(memory, c->poison, bytes);
    for (int32_t g = 0; g < c->rows.groups; g++)
        memcpy(memory + (size_t)g * step,
               scales ? c->b[g].scales : c->b[g].values, part);
    device = gpu_upload(memory, bytes);
    free(memory);
    *stride = c->gap ? (int64_t)step : 0;
    return device;
}

static void alloc_rows(const struct expert_case *c, int64_t rows,
                       struct ref_operand *a)
{
    if (c->a_type == JITGEMM_INPUT_NVFP4)
        ref_operand_alloc(a, rows, c->k);
    else
        ref_operand_alloc_type(a, rows, c->k,
                               c->a_type == JITGEMM_INPUT_BF16 ? REF_BF16
                                                               : REF_F16);
}

static void make_bias(struct expert_case *c, uint64_t seed)
{
    size_t count = (size_t)(c->rows.groups * c->n);
    enum ref_type type = (enum ref_type)c->c_type;
    void *elements = allocate(count * element_bytes(c));

    c->bias = allocate(count * sizeof *c->bias);
    for (size_t i = 0; i < count; i++) {
        double any = (double)(ref_random(&seed) % 65536) / 64 - 512;

        ref_store(type, elements, (int64_t)i, any);
        c->bias[i] = ref_load(type, elements, (int64_t)i);
    }
    c->arguments.bias = gpu_upload(elements, count * element_bytes(c));
    free(elements);
}

void expert_case_make(struct expert_case *c, uint64_t seed)
{
    size_t groups = (size_t)c->rows.groups;
    jitgemm_expert_arguments *to = &c->arguments;

    alloc_rows(c, all_rows(c), &c->a);
    ref_operand_fill(&c->a, REF_FULL, ref_random(&seed));
    c->b = allocate(groups * sizeof *c->b);
    c->alpha = allocate(groups * sizeof *c->alpha);
    for (size_t g = 0; g < groups; g++) {
        (c->b_type == JITGEMM_WEIGHTS_MXFP4 ? ref_operand_alloc_mx
                                            : ref_operand_alloc)(
            &c->b[g], c->n, c->k);
        ref_operand_fill(&c->b[g], REF_FULL, ref_random(&seed));
        /* As product_make() does. */
        c->alpha[g] = (float)(1 + (double)(ref_random(&seed) % 256) / 256) *
                      (float)(ldexp(1, -10) / sqrt((double)c->k));
        if (c->no_alpha)
            c->alpha[g] = 1;
    }
    c->sfa_bytes =
        c->a.scales ? jitgemm_scale_bytes(ref_rows_room(&c->rows), c->k) : 0;
    c->c_bytes = (size_t)all_rows(c) * row_c(c);
    *to = (jitgemm_expert_arguments){
        .size = sizeof *to,
        .a = upload_a(c),
        .sfa = c->a.scales ? gpu_alloc(c->sfa_bytes) : NULL,
        .c = gpu_alloc(c->c_bytes),
        .alpha = c->no_alpha ? NULL
                             : gpu_upload(c->alpha, groups * sizeof *c->alpha),
        .rows = c->rows.rows ? gpu_alloc(numbers_bytes(c)) : NULL,
        .scale_row = c->rows.scale_row ? gpu_alloc(4 * groups) : NULL,
        .scale_rows = c->rows.scale_rows,
        .fault = gpu_alloc(sizeof(jitgemm_fault)),
    };
    if (c->with_bias)
        make_bias(c, seed);
    to->b = upload_stack(c, false, &to->stride_b);
    to->sfb = upload_stack(c, true, &to->stride_sfb);
    expert_case_upload(c);
}

void expert_case_free(struct expert_case *c)
{
    const jitgemm_expert_arguments *a = &c->arguments;
    const void *all[] = {a->bias,      a->a,     a->sfa,      a->b,
                         a->sfb,       a->c,     a->alpha,    a->rows,
                         a->scale_row, a->fault, a->workspace};

    gpu_sync();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gpu_free((void *)(uintptr_t)all[i]);
    for (int32_t g = 0; g < c->rows.groups; g++)
        ref_operand_free(&c->b[g]);
    ref_operand_free(&c->a);
    free(c->b);
    free(c->alpha);
    free(c->bias);
}

jitgemm_problem expert_case_problem(const struct expert_case *c)
{
    return (jitgemm_problem){.size = sizeof(jitgemm_problem),
                             .flags = c->flags,
                             .groups = c->rows.groups,
                             .n = &c->n,
                             .k = &c->k,
                             .c_type = c->c_type,
                             .a_type = c->a_type,
                             .b_type = c->b_type,
                             .sizes = JITGEMM_SIZES_DEVICE,
                             .layout = c->rows.layout,
                             .place = c->rows.place,
                             .sm_limit = c->sm_limit,
                             .max_rows = c->rows.max_rows,
                             .hint_rows = c->hint_rows,
                             .row_a = c->row_a,
                             .row_c = c->row_c};
}

jitgemm_plan *expert_case_plan(const struct expert_case *c,
                               jitgemm_context *context,
                               const struct jg_config *config)
{
    jitgemm_problem problem = expert_case_problem(c);
    jitgemm_plan *plan;

    if (config) {
        struct jg_problem checked;
        struct jg_config whole = *config;

        JITGEMM(jg_problem_read(&problem, &checked));
        jg_plan_complete(&checked, &whole);
        JITGEMM(jg_launch_create(context, &checked, &whole, &plan));
    } else {
        JITGEMM(jitgemm_plan_create(context, &problem, &plan));
    }
    return plan;
}

int expert_case_configs(const struct jg_model *model)
{
    int count = model->count;

    while (model->configs[count - 1].family == JG_SM90 &&
           model->configs[count - 1].ctas > 1)
        count--;
    return count;
}

void expert_case_workspace(const jitgemm_plan *plan,
                           jitgemm_expert_arguments *arguments)
{
    JITGEMM(jitgemm_plan_workspace(plan, &arguments->workspace_bytes));
    arguments->workspace = NULL;
    if (!arguments->workspace_bytes)
        return;
    arguments->workspace = gpu_alloc(arguments->workspace_bytes);
    GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)arguments->workspace, 0xff,
                   arguments->workspace_bytes));
    GPU(cuCtxSynchronize());
}

/* ---- Rows ---- */

/* Arguments are of the device's memory, but written only here. */
static void put(const void *to, const void *from, size_t bytes)
{
    if (to)
        GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)to, from, bytes));
}

static uint8_t scale_of(const struct expert_case *c, int64_t row,
                        int64_t block)
{
    return c->a.scales[ref_scale_offset(row, block, c->k)];
}

static void upload_scales(const struct expert_case *c)
{
    uint8_t *scales = allocate(c->sfa_bytes);
    jitgemm_fault fault;
    struct ref_group *groups = ref_rows_read(&c->rows, &fault);

    memset(scales, c->poison, c->sfa_bytes);
    for (int32_t g = 0; g < c->rows.groups; g++)
        for (int64_t i = 0; groups[g].room && i < groups[g].rows; i++)
            for (int64_t b = 0; b < c->k / 16; b++)
                scales[ref_scale_offset(groups[g].start + i, b, c->k)] =
                    scale_of(c, groups[g].first + i, b);
    put(c->arguments.sfa, scales, c->sfa_bytes);
    free(groups);
    free(scales);
}

void expert_case_upload(const struct expert_case *c)
{
    const jitgemm_expert_arguments *a = &c->arguments;
    const jitgemm_fault none = {0};

    GPU(cuCtxSynchronize());
    put(a->rows, c->rows.rows, numbers_bytes(c));
    put(a->scale_row, c->rows.scale_row, 4 * (size_t)c->rows.groups);
    put(a->fault, &none, sizeof none);
    if (c->a.scales)
        upload_scales(c);
    if (c->c_bytes)
        GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)a->c, POISON, c->c_bytes));
    GPU(cuCtxSynchronize());
}

/* ---- C ---- */

void *expert_case_download(const struct expert_case *c)
{
    void *got = allocate(c->c_bytes);

    gpu_download(got, c->arguments.c, c->c_bytes);
    return got;
}

/* Group g's rows of A as an operand of their own. */
static void take_rows(const struct expert_case *c,
                      const struct ref_group *group, struct ref_operand *rows)
{
    int64_t row_bytes = c->a.scales ? c->k / 2 : 2 * c->k;

    alloc_rows(c, group->rows, rows);
    memcpy(rows->values, c->a.values + group->first * row_bytes,
           rows->value_bytes);
    for (int64_t i = 0; c->a.scales && i < group->rows; i++)
        for (int64_t b = 0; b < c->k / 16; b++)
            rows->scales[ref_scale_offset(i, b, c->k)] =
                scale_of(c, group->first + i, b);
}

/* But for rows that are others', too. */
static int64_t check_group(const struct expert_case *c, int32_t g,
                           const struct ref_group *group, const void *got,
                           const uint8_t *owners, const char *name)
{
    enum ref_type type = (enum ref_type)c->c_type;
    int64_t count = group->rows * c->n, bad = 0;
    double *exact = allocate(2 * (size_t)count * sizeof *exact);
    static const uint8_t poison[4] = {POISON, POISON, POISON, POISON};
    double old = ref_load(type, poison, 0);
    struct ref_operand rows;

    take_rows(c, group, &rows);
    ref_product(&rows, &c->b[g], (double)c->alpha[g], exact, exact + count, 1);
    if (c->bias)
        ref_add_bias(c->bias + g * c->n, group->rows, c->n, exact,
                     exact + count);
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *row = (const uint8_t *)got +
                             (size_t)(group->first + i / c->n) * row_c(c);
        double value = ref_load(type, row, i % c->n);

        if (c->flags & JITGEMM_ACCUMULATE) {
            exact[i] += old;
            exact[count + i] += fabs(old);
        }
        if (owners[group->first + i / c->n] == 1 &&
            !ref_agrees(type, value, exact[i], exact[count + i], c->k) &&
            bad++ < 4)
            fprintf(stderr, "  %s: group %d, C[%lld, %lld] is %g, not %g\n",
                    name, (int)g, (long long)(i / c->n), (long long)(i % c->n),
                    value, exact[i]);
    }
    ref_operand_free(&rows);
    free(exact);
    return bad;
}

/* Whether a row is to be 0: it is behind the last group's end, or its own
 * one's, which must be good. */
static bool is_tail(const struct expert_case *c,
                    const struct ref_group *groups, int64_t row)
{
    const int32_t *rows = c->rows.rows;
    int64_t most = c->rows.max_rows;

    if (!(c->flags & JITGEMM_ZERO_TAIL) || !rows)
        return false;
    if (c->rows.layout == JITGEMM_ROWS_MASKED)
        return groups[row / most].rows == rows[row / most] &&
               rows[row / most] <= row % most;
    return rows[c->rows.groups] >= 0 && rows[c->rows.groups] <= row;
}

/* Rows of no group, and what is between rows. */
static int64_t check_rest(const struct expert_case *c,
                          const struct ref_group *groups, const uint8_t *got,
                          const uint8_t *owners, const char *name)
{
    size_t row_bytes = (size_t)c->n * element_bytes(c), step = row_c(c);
    int64_t bad = 0;

    for (size_t i = 0; i < c->c_bytes; i++) {
        bool inside = i % step < row_bytes;
        bool tail = inside && is_tail(c, groups, (int64_t)(i / step));
        uint8_t want = tail ? 0 : POISON;

        if ((!owners[i / step] || !inside) && got[i] != want && bad++ < 4)
            fprintf(stderr, "  %s: byte %zu of row %zu of C is %#x\n", name,
                    i % step, i / step, got[i]);
    }
    return bad;
}

static int64_t check_fault(const struct expert_case *c,
                           const jitgemm_fault *want, const char *name)
{
    jitgemm_fault got;

    gpu_download(&got, c->arguments.fault, sizeof got);
    if (memcmp(&got, want, sizeof got) == 0)
        return 0;
    fprintf(stderr, "  %s: fault %d, group %d, %lld; not %d, %d, %lld\n", name,
            (int)got.code, (int)got.group, (long long)got.value,
            (int)want->code, (int)want->group, (long long)want->value);
    return 1;
}

/* Those that run get 1 or more rows. How many groups each row has. */
static uint8_t *find_owners(const struct expert_case *c,
                            struct ref_group *groups)
{
    uint8_t *owners = allocate((size_t)all_rows(c));
    int64_t count = c->rows.groups, rows = c->rows.max_rows, taken = 0;
    int64_t used = rows < count ? rows : count;
    int64_t atoms = c->rows.layout == JITGEMM_ROWS_MASKED
                        ? count * ((rows + 7) / 8)
                        : (rows + 7 * used) / 8; /* of the workspace */

    for (int32_t g = 0; g < count; g++) {
        taken += (groups[g].rows + 7) / 8;
        if (!groups[g].room || taken > atoms)
            groups[g].rows = 0;
        for (int64_t i = 0; i < groups[g].rows; i++)
            owners[groups[g].first + i]++;
    }
    return owners;
}

int64_t expert_case_check(const struct expert_case *c, const char *name)
{
    jitgemm_fault fault;
    struct ref_group *groups = ref_rows_read(&c->rows, &fault);
    uint8_t *owners = find_owners(c, groups), *got;
    int64_t bad = 0;

    gpu_sync();
    got = expert_case_download(c);
    for (int32_t g = 0; g < c->rows.groups; g++)
        if (groups[g].rows)
            bad += check_group(c, g, &groups[g], got, owners, name);
    bad += check_rest(c, groups, got, owners, name);
    bad += check_fault(c, &fault, name);
    free(groups);
    free(owners);
    free(got);
    return bad;
}

int64_t expert_case_test(struct expert_case *c, jitgemm_context *context,
                         const struct jg_config *config, const char *name)
{
    static uint64_t seed = 2027;
    jitgemm_plan *plan = expert_case_plan(c, context, config);
    int64_t bad;

    expert_case_make(c, ++seed);
    expert_case_workspace(plan, &c->arguments);
    JITGEMM(jitgemm_run_experts(plan, &c->arguments, gpu.stream));
    bad = expert_case_check(c, name);
    expert_case_free(c);
    jitgemm_plan_destroy(plan);
    return bad;
}
