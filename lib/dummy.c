/* SPDX-License-Identifier: MIT */
/* One block of device memory with all operands. */
#include "dummy.h"

#include <stdlib.h>

#define LIMIT ((size_t)1 << 47) /* more than any GPU has */
#define ALIGN 256
#define BLOCK ((size_t)1 << 20) /* bytes of numbers, again and again */

/* ---- Layout: offsets in the memory ---- */

/* Room for so many pieces of so many bytes each, one after the other. */
static size_t place(size_t *used, int64_t pieces, size_t bytes)
{
    size_t at = *used, count = (size_t)pieces;

    if (count && bytes > (LIMIT - at - ALIGN) / count)
        *used = LIMIT;
    else
        *used = (at + count * bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at == LIMIT ? 0 : at;
}

/* The five arrays of pointers; they are offsets if `memory` is 0. */
static size_t lay_groups(const struct jg_problem *problem, CUdeviceptr memory,
                         const void **pointers)
{
    size_t used = 0, groups = (size_t)problem->groups;

    for (size_t g = 0; g < groups; g++) {
        struct jg_size size = problem->sizes[g];
        size_t n = (size_t)size.n, k = (size_t)size.k;
        int32_t scale_k = jg_problem_scale_k(problem, size.k);
        size_t row_a = (size_t)jg_problem_row_a(problem, size.k);
        size_t row_c = (size_t)jg_problem_row_c(problem, size.n);
        const size_t at[] = {
            place(&used, size.m, row_a),
            place(&used, 1, jitgemm_scale_bytes(size.m, size.k)),
            place(&used, 1, n * k / 2),
            place(&used, 1, jitgemm_scale_bytes(size.n, scale_k)),
            place(&used, size.m, row_c),
        };

        for (size_t i = 0; i < 5; i++)
            pointers[i * groups + g] =
                (const void *)(uintptr_t)(memory + at[i]);
    }
    return used;
}

/* ---- Sizes on the device ---- */

static bool is_masked(const struct jg_problem *problem)
{
    return problem->layout == JG_MASKED;
}

/* What the place takes or, where the caller says it, each group behind the one
 * before. */
static int64_t count_scale_rows(const struct jg_problem *problem)
{
    int64_t each = problem->max_rows, rows = 0;

    if (problem->place != JG_EXPLICIT)
        return jitgemm_scale_rows((jitgemm_place)problem->place,
                                  is_masked(problem) &&
                                          problem->place != JG_STRIDED
                                      ? each * problem->groups
                                      : each,
                                  problem->groups);
    for (int32_t g = 0; g < problem->groups; g++)
        rows += (problem->sizes[g].m + 127) / 128 * 128;
    return rows;
}

struct parts { /* of the memory, for experts */
    size_t a, sfa, b, sfb, c, rows, scale_row, all;
};

static struct parts lay_experts(const struct jg_problem *problem)
{
    struct jg_size size = problem->sizes[0];
    int32_t scale_k = jg_problem_scale_k(problem, size.k);
    int64_t groups = problem->groups;
    int64_t rows = problem->max_rows * (is_masked(problem) ? groups : 1);
    size_t used = 0, n = (size_t)size.n, k = (size_t)size.k;
    struct parts parts = {
        .a = place(&used, rows, (size_t)jg_problem_row_a(problem, size.k)),
        .sfa = place(&used, 1,
                     jitgemm_scale_bytes(count_scale_rows(problem), size.k)),
        .b = place(&used, groups, n * k / 2),
        .sfb = place(&used, groups, jitgemm_scale_bytes(size.n, scale_k)),
        .c = place(&used, rows, (size_t)jg_problem_row_c(problem, size.n)),
        .rows = place(&used, groups + 1, sizeof(int32_t)),
        .scale_row = place(&used, groups, sizeof(int32_t)),
    };

    parts.all = used;
    return parts;
}

static void *at(const struct jg_dummy *dummy, size_t offset)
{
    return (void *)(uintptr_t)(dummy->memory + offset);
}

static void point_experts(const struct jg_problem *problem,
                          const struct parts *parts, struct jg_dummy *dummy)
{
    bool scaled = problem->input == JG_IN_NVFP4;
    bool told = scaled && problem->place == JG_EXPLICIT;

    dummy->experts = (jitgemm_expert_arguments){
        .size = sizeof dummy->experts,
        .a = at(dummy, parts->a),
        .sfa = scaled ? at(dummy, parts->sfa) : NULL,
        .b = at(dummy, parts->b),
        .sfb = at(dummy, parts->sfb),
        .c = at(dummy, parts->c),
        .rows = at(dummy, parts->rows),
        .scale_row = told ? at(dummy, parts->scale_row) : NULL,
        .scale_rows = told ? count_scale_rows(problem) : 0,
    };
}

/* Offsets or counts, [groups + 1], and behind them where scales are. */
static void count_rows(const struct jg_problem *problem, int32_t *rows)
{
    int32_t groups = problem->groups, first = 0, scale_row = 0;

    for (int32_t g = 0; g < groups; g++) {
        int32_t m = problem->sizes[g].m;

        rows[g] = is_masked(problem) ? m : first;
        rows[groups + 1 + g] = scale_row;
        first += m;
        scale_row += (m + 127) / 128 * 128;
    }
    rows[groups] = first;
}

/* ---- Memory ---- */

static jitgemm_status upload(const struct jg_dummy *dummy, size_t to,
                             const void *from, size_t bytes)
{
    const struct jg_cuda *cuda = dummy->context->cuda;
    CUresult result = cuda->cuMemcpyHtoDAsync(dummy->memory + to, from, bytes,
                                              dummy->stream);

    return result == CUDA_SUCCESS
               ? JITGEMM_OK
               : jg_driver_fail(cuda, result, "cuMemcpyHtoDAsync");
}

static jitgemm_status allocate(const struct jg_cuda *cuda, size_t bytes,
                               CUdeviceptr *memory)
{
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    if (bytes < LIMIT)
        result = cuda->cuMemAlloc(memory, bytes);
    return result == CUDA_SUCCESS ? JITGEMM_OK
                                  : jg_driver_fail(cuda, result, "cuMemAlloc");
}

/* As e2m1 any; as e4m3, f16 and bf16, whose exponents begin with a 0, below
 * 2; as e8m0 up to 2^64. */
static jitgemm_status fill(struct jg_dummy *dummy, size_t bytes)
{
    uint64_t state = 88172645463325252u; /* xorshift, Marsaglia 2003 */
    jitgemm_status status = JITGEMM_OK;

    dummy->numbers = malloc(BLOCK);
    if (!dummy->numbers)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for operands");
    for (size_t i = 0; i < BLOCK; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        dummy->numbers[i] = (unsigned char)(state >> 32 & 0xbf);
    }
    for (size_t i = 0; i < bytes && status == JITGEMM_OK; i += BLOCK)
        status = upload(dummy, i, dummy->numbers,
                        bytes - i < BLOCK ? bytes - i : BLOCK);
    return status;
}

/* ---- */

static jitgemm_status make_groups(const struct jg_problem *problem,
                                  struct jg_dummy *dummy)
{
    size_t groups = (size_t)problem->groups, bytes;
    const void **pointers = malloc(5 * groups * sizeof *pointers);
    jitgemm_status status;

    dummy->arrays = pointers;
    if (!pointers)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for %zu groups", groups);
    bytes = lay_groups(problem, 0, pointers);
    status = allocate(dummy->context->cuda, bytes, &dummy->memory);
    if (status != JITGEMM_OK)
        return status;
    lay_groups(problem, dummy->memory, pointers);
    dummy->operands = (jitgemm_operands){
        .size = sizeof dummy->operands,
        .a = pointers,
        .sfa = pointers + groups,
        .b = pointers + 2 * groups,
        .sfb = pointers + 3 * groups,
        .c = (void *const *)(pointers + 4 * groups),
    };
    return fill(dummy, bytes);
}

static jitgemm_status make_experts(const struct jg_problem *problem,
                                   struct jg_dummy *dummy)
{
    size_t groups = (size_t)problem->groups;
    struct parts parts = lay_experts(problem);
    int32_t *rows = malloc((2 * groups + 1) * sizeof *rows);
    jitgemm_status status;

    dummy->arrays = rows;
    if (!rows)
        return jg_fail(JITGEMM_E_MEMORY, "no memory for %zu groups", groups);
    count_rows(problem, rows);
    status = allocate(dummy->context->cuda, parts.all, &dummy->memory);
    if (status == JITGEMM_OK)
        status = fill(dummy, parts.all);
    if (status == JITGEMM_OK)
        status = upload(dummy, parts.rows, rows, (groups + 1) * sizeof *rows);
    if (status == JITGEMM_OK)
        status = upload(dummy, parts.scale_row, rows + groups + 1,
                        groups * sizeof *rows);
    point_experts(problem, &parts, dummy);
    return status;
}

jitgemm_status jg_dummy_make(jitgemm_context *context,
                             const struct jg_problem *problem,
                             CUstream stream, struct jg_dummy *dummy)
{
    *dummy = (struct jg_dummy){.context = context, .stream = stream};
    return problem->on_device ? make_experts(problem, dummy)
                              : make_groups(problem, dummy);
}

void jg_dummy_free(struct jg_dummy *dummy)
{
    if (dummy->workspace)
        dummy->context->cuda->cuMemFree(dummy->workspace);
    if (dummy->memory)
        dummy->context->cuda->cuMemFree(dummy->memory);
    free(dummy->numbers);
    free(dummy->arrays);
    *dummy = (struct jg_dummy){.context = NULL};
}

jitgemm_status jg_dummy_bind(struct jg_dummy *dummy, jitgemm_plan *plan)
{
    jitgemm_expert_arguments *experts = &dummy->experts;
    jitgemm_status status;

    if (!plan->problem.on_device)
        return jitgemm_plan_bind(plan, &dummy->operands, dummy->stream);
    if (dummy->workspace)
        dummy->context->cuda->cuMemFree(dummy->workspace);
    dummy->workspace = 0;
    status = jitgemm_plan_workspace(plan, &experts->workspace_bytes);
    if (status == JITGEMM_OK && experts->workspace_bytes)
        status = allocate(dummy->context->cuda, experts->workspace_bytes,
                          &dummy->workspace);
    experts->workspace = (void *)(uintptr_t)dummy->workspace;
    return status;
}

jitgemm_status jg_dummy_run(const struct jg_dummy *dummy,
                            const jitgemm_plan *plan)
{
    return plan->problem.on_device
               ? jitgemm_run_experts(plan, &dummy->experts, dummy->stream)
               : jitgemm_run(plan, dummy->stream);
}
